import { UsageFault } from '../../config/fault.ts';
import { givenWords } from '../../operations/run.ts';
import type { MonitoredWallet } from './monitor/run-monitor.ts';

export const USAGE = `usage: npm run witness -- URL [--key VKEY]... [--name NAME] [--state DIR]
                         [--port N] [--host HOST] [--once] [--every SECONDS]
       npm run witness -- URL --wallet 0x… --rpc URL [--from-block N] [--treasury 0x…]... [--signature-file FILE]

Follows the transparency log (C2SP tlog-tiles) at URL or URL/log. It proves by the log's tiles that each new checkpoint extends the ones
that it cosigned before, and cosigns it (C2SP tlog-cosignature).

  --key     verifier key of the log, may be repeated (default: the keys that the log names itself at the first start)
  --name    name of the witness, such as witness.example/w1; set at the first start, together with its key
  --state   folder for the key, leaf hashes and cosigned checkpoints of one log (default: one folder per URL in
            $XDG_STATE_HOME/spend-receipt-gateway/witness or ~/.local/state/spend-receipt-gateway/witness)
  --port    serves add-checkpoint and the cosigned checkpoint (C2SP tlog-witness) on --host (default: 127.0.0.1)
  --once    checks once and ends; exit code 0 if all is well, 1 if it refuses or cannot check
  --every   seconds between two checks (default: 15)

With --wallet it checks once everything that a wallet has paid for: the log as above, then each receipt of the wallet against its
signatures, the leaves of the log and the USDC that the wallet sent to the treasury on Base. It prints each transfer without a receipt
and each receipt without a transfer; exit code 0 if all match, else 1. The service shows the receipts to the wallet only, so the wallet
signs the request: with its key in WALLET_KEY, or a signature in --signature-file.

  --rpc         a node of Base (required)
  --from-block  first block to read (default: the block of the wallet's first receipt)
  --treasury    a former treasury address of the service, may be repeated`;

export interface WitnessOptions {
  readonly url: string;
  /** Verifier keys of the log from the command line. If empty, the stored ones are used. */
  readonly keys: readonly string[];
  readonly name: string | null;
  /** State folder; null for the default folder of the URL. */
  readonly state: string | null;
  /** Port to serve on; null if nothing is served. */
  readonly port: number | null;
  readonly host: string;
  readonly once: boolean;
  readonly every_ms: number;
  /** The wallet whose receipts are checked; null without --wallet. */
  readonly monitored: MonitoredWallet | null;
}

const EVERY_SECONDS = '15';

/** The options on the command line. @throws UsageFault if an argument is missing or invalid */
export function witnessOptions(args: readonly string[]): WitnessOptions | 'help' {
  const { positionals, values } = parsed(args);
  if (values.help) return 'help';
  const [url, ...more] = positionals;
  if (url === undefined || more.length > 0) throw new UsageFault();
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new UsageFault(`${url} is not an http(s) URL; give the URL of the log`);
  const { key: keys = [], name = null, state = null, host = '127.0.0.1', once = false } = values;
  if (name !== null && !/^[^\p{White_Space}+\p{Cc}]{1,200}$/u.test(name))
    throw new UsageFault(
      '--name must have 1 to 200 characters, without white space, plus signs and control characters',
    );
  if (values.wallet !== undefined && (values.port ?? values.every) !== undefined)
    throw new UsageFault('--wallet checks once and starts no server: it cannot be combined with --port or --every');
  if (values.host !== undefined && values.port === undefined)
    throw new UsageFault('--host has no effect without --port; give --port too, or omit --host');
  return {
    url: url.replace(/\/+$/, ''),
    keys,
    name,
    state,
    host,
    once,
    port: values.port === undefined ? null : numberIn('--port', values.port, 0, 65_535),
    every_ms: numberIn('--every', values.every ?? EVERY_SECONDS, 1, 86_400) * 1_000,
    monitored: monitoredWalletIn(values),
  };
}

type Values = ReturnType<typeof parsed>['values'];

function monitoredWalletIn({
  wallet,
  rpc,
  treasury = [],
  'from-block': from,
  'signature-file': file,
}: Values): MonitoredWallet | null {
  if (wallet === undefined) {
    if (rpc ?? from ?? file ?? treasury[0])
      throw new UsageFault(
        '--rpc, --from-block, --signature-file and --treasury have no effect without --wallet; give --wallet too, or omit them',
      );
    return null;
  }
  if (rpc === undefined || !/^https?:\/\//.test(rpc) || !URL.canParse(rpc))
    throw new UsageFault('--wallet requires --rpc, the http(s) URL of a node of Base');
  const [address = '', ...treasuries] = [wallet, ...treasury].map(text => {
    if (!/^0x[0-9a-fA-F]{40}$/.test(text))
      throw new UsageFault(`${text} is not an address; --wallet and --treasury take 0x and 40 hex digits`);
    return text.toLowerCase();
  });
  const from_block = from === undefined ? null : numberIn('--from-block', from, 0, 999_999_999);
  return { wallet: address, rpc, treasuries, from_block, signature_file: file ?? null };
}

function parsed(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const options = {
    name: text,
    state: text,
    port: text,
    host: text,
    every: text,
    once: flag,
    help: flag,
    key: { type: 'string', multiple: true },
    wallet: text,
    rpc: text,
    'from-block': text,
    'signature-file': text,
    treasury: { type: 'string', multiple: true },
  } as const;
  return givenWords({ args: [...args], allowPositionals: true, options });
}

function numberIn(option: string, text: string, min: number, max: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new UsageFault(`${option} must be a number from ${min} to ${max}`);
}
