import { OperatorFault } from '../../config/fault.ts';
import { givenWords } from '../../operations/run.ts';
import type { Monitored } from './monitor/run-monitor.ts';

export const USAGE = `usage: npm run witness -- URL [--key VKEY]... [--name NAME] [--state DIR]
                         [--port N] [--host HOST] [--once] [--every SECONDS]
       npm run witness -- URL --wallet 0x… --rpc URL [--from-block N] [--treasury 0x…]... [--signature-file FILE]

Follows a transparency log (C2SP tlog-tiles) by its prefix, or by the URL of a service that has one at /log: proves that each new
checkpoint extends what it has cosigned before, by the log's own tiles, and cosigns it (C2SP tlog-cosignature).

  --key     verifier key of the log; without it, those that the log names itself are trusted from the first start on
  --name    by which the witness signs, such as witness.example/w1; made once, with its key
  --state   folder for key, leaf hashes and cosigned heads of one log (default: one for each URL, in
            $XDG_STATE_HOME/spend-receipt-gateway/witness, or below ~/.local/state)
  --port    serves add-checkpoint to the log, and the cosigned checkpoint to all (C2SP tlog-witness), on --host (127.0.0.1)
  --once    looks once, and ends: 0 where all is well, 1 where it refuses or cannot look
  --every   seconds between two looks (default: 15)

With --wallet it looks once at what that wallet has paid for: the log as above, each receipt that the service shows to the wallet (which
signs for it: its key in WALLET_KEY, or a signature in --signature-file) against signatures and leaves, and against what it moved to the
treasury on Base. A transfer without a receipt, and a receipt without a transfer, is named; 0 where all of it fits.

  --rpc         a node of Base
  --from-block  the first block that is read (default: that of the wallet's first receipt)
  --treasury    an address that the service was paid at, beside the one that it asks to be paid at now`;

export interface WitnessOptions {
  readonly url: string;
  /** Verifier keys of the log, as they were given; those that are kept unless there is any. */
  readonly keys: readonly string[];
  readonly name: string | null;
  /** Null: one of its own for each URL. */
  readonly state: string | null;
  /** Null: nothing is served. */
  readonly port: number | null;
  readonly host: string;
  readonly once: boolean;
  readonly every_ms: number;
  /** Null: no wallet's receipts are looked at. */
  readonly monitored: Monitored | null;
}

const EVERY_SECONDS = '15';

/** Null where the usage is to be told. @throws OperatorFault where an option is not what it has to be */
export function witnessOptions(args: readonly string[]): WitnessOptions | 'help' | null {
  const { positionals, values } = parsed(args);
  if (values.help) return 'help';
  const [url, ...more] = positionals;
  if (url === undefined || more.length > 0) return null;
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new OperatorFault(`${url} is no http(s) URL`);
  const { key: keys = [], name = null, state = null, host = '127.0.0.1', once = false } = values;
  if (name !== null && !/^[^\p{White_Space}+\p{Cc}]{1,200}$/u.test(name))
    throw new OperatorFault('--name holds white space or a plus, or is too long');
  if (values.wallet !== undefined && (values.port ?? values.every) !== undefined)
    throw new OperatorFault('--wallet checks once and starts no server: it cannot be combined with --port or --every');
  if (values.host !== undefined && values.port === undefined)
    throw new OperatorFault('--host has no effect without --port');
  return {
    url: url.replace(/\/+$/, ''),
    keys,
    name,
    state,
    host,
    once,
    port: values.port === undefined ? null : numberIn('--port', values.port, 0, 65_535),
    every_ms: numberIn('--every', values.every ?? EVERY_SECONDS, 1, 86_400) * 1_000,
    monitored: monitoredIn(values),
  };
}

type Values = ReturnType<typeof parsed>['values'];

function monitoredIn({
  wallet,
  rpc,
  treasury = [],
  'from-block': from,
  'signature-file': file,
}: Values): Monitored | null {
  if (wallet === undefined) {
    if (rpc ?? from ?? file ?? treasury[0]) throw new OperatorFault('what is asked of a chain is asked for a --wallet');
    return null;
  }
  if (rpc === undefined || !/^https?:\/\//.test(rpc) || !URL.canParse(rpc))
    throw new OperatorFault('--rpc is the http(s) URL of a node of Base');
  const [address = '', ...treasuries] = [wallet, ...treasury].map(text => {
    if (!/^0x[0-9a-fA-F]{40}$/.test(text)) throw new OperatorFault(`${text} is no address`);
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
  throw new OperatorFault(`${option} is not a number from ${min} to ${max}`);
}
