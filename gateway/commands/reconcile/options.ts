import { OperatorFault, UsageFault } from '../../config/fault.ts';
import { readConfig } from '../../config/read-config.ts';
import { readDevelopmentFile } from '../../operations/development-file.ts';
import { givenWords } from '../../operations/run.ts';

export const RECONCILE_USAGE = `usage: npm run reconcile -- --wallet 0x… --from N --to M [--url URL] [--rpc URL]
                           [--own 0x…]... [--signature-file FILE] [--json]

Lists all USDC transfers that a wallet sent on Base in blocks N to M, and says for each whether one of the wallet's receipts names it.
The service shows the receipts to the wallet only, so the wallet signs the request: with its key in WALLET_KEY, or a signature in
--signature-file. Each receipt is verified here.

  --url   the service (default: the one that this configuration serves)
  --rpc   a node of Base (default: BASE_RPC_URL, or the development chain)
  --own   another wallet of the same owner; transfers to it are self-dealt
  --json  one JSON document instead of the table

Exit code: 0 every transfer is receipted, ingested or self-dealt; 1 some are not, or a receipt is invalid; 2 this usage; 3 the chain or
the service could not be read.`;

export interface ReconcileOptions {
  /** Addresses in lower case, like `own`. */
  readonly wallet: string;
  readonly own: readonly string[];
  readonly from: number;
  readonly to: number;
  readonly url: string;
  readonly rpc: string;
  readonly signature_file: string | null;
  readonly json: boolean;
}

/** The options on the command line. @throws UsageFault if an option is missing or invalid */
export async function reconcileOptions(args: readonly string[]): Promise<ReconcileOptions | 'help'> {
  const { values } = parsed(args);
  if (values.help) return 'help';
  const { wallet, from, to, own = [], json = false } = values;
  if (wallet === undefined || from === undefined || to === undefined) throw new UsageFault();
  const blocks = { from: blockOf('--from', from), to: blockOf('--to', to) };
  if (blocks.to < blocks.from) throw new UsageFault('--to must not be lower than --from');
  return {
    wallet: addressOf(wallet),
    own: own.map(addressOf),
    ...blocks,
    json,
    url: urlOf('--url', values.url ?? readConfig().base_url),
    rpc: urlOf('--rpc', values.rpc ?? (await configuredRpc())),
    signature_file: values['signature-file'] ?? null,
  };
}

function parsed(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const options = {
    wallet: text,
    from: text,
    to: text,
    url: text,
    rpc: text,
    'signature-file': text,
    json: flag,
    help: flag,
    own: { type: 'string', multiple: true },
  } as const;
  return givenWords({ args: [...args], options });
}

function addressOf(text: string): string {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text))
    throw new UsageFault(`${text} is not an address; --wallet and --own take 0x and 40 hex digits`);
  return text.toLowerCase();
}

function blockOf(option: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageFault(`${option} must be a block number of at most 9 digits`);
  return Number(text);
}

function urlOf(option: string, text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) throw new UsageFault(`${option} must be an http(s) URL`);
  return text.replace(/\/+$/, '');
}

/** URL of this configuration's node. In development it is the chain of the service that has run in DATA_DIR. */
async function configuredRpc(): Promise<string> {
  const { base_rpc_url, data_dir } = readConfig();
  if (base_rpc_url !== null) return base_rpc_url;
  const development = await readDevelopmentFile(data_dir);
  if (development !== null) return development.base_rpc_url;
  throw new OperatorFault('BASE_RPC_URL is not set: give the http(s) URL of a node of Base with --rpc');
}
