import { stat } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { OperatorFault } from '../config/fault.ts';
import { run } from '../operations/run.ts';
import { progressBar } from './export/progress-bar.ts';
import { documentsIn, examineAll } from './verify/directory.ts';
import {
  type DocumentOutcome,
  documentOutcome,
  type Examined,
  examine,
  exitCodes,
  type VerifyAsked,
} from './verify/examine.ts';
import { examinedJson, type Unread } from './verify/json.ts';
import { isUrl, STDIN } from './verify/source.ts';
import { lineOf, linesOf, plain } from './verify/told.ts';

/*
 * `npm run verify -- FILE|URL|DIR|-`: verifies a receipt, a refusal, a published export, an inflow's claim, a dispute's verdict or
 * a reconciliation, or every one in a directory, asking the service for it and for its key set and nothing else.
 */

const USAGE = `usage: npm run verify -- FILE|URL|DIR|- [--jwks FILE|URL] [--rpc URL] [--json]
                        [--proof FILE|URL] [--log-key VKEY]... [--witness VKEY]...

Verifies a receipt (or an answer that carries one as "svc"; or what ?format=cose or ?format=vc shows), a signed refusal, what ?format=auditor shows of
either (offline, by the keys that it brings), a published export, the claim of an inflow (or its row) or the verdict of a dispute (or the dispute), whose rule is run again, a reconciliation (or its answer), or what is signed of a book's total and of a payment. Without --jwks the key set is fetched from whom the document itself names; give --jwks to trust nobody but that
file. - reads standard input. Of a directory every .json, .cose, .scitt and .jwt in it is verified, on all cores, a line for each.

With --proof a receipt has to stand in the log by that proof (C2SP tlog-proof), signed by one of --log-key; with --witness, each
of those has to have cosigned its checkpoint. Of a receipt at a URL, proof and key are fetched from there unless given.

With --rpc a receipt's transfer is looked up on Base, by that node: payer, payee, amount of USDC, confirmations.
With --json one object for each document, on a line of its own.

Exit code: 0 valid; 1 something is not valid; 2 this usage; 3 something could not be looked at, and all else is valid.`;

function given() {
  try {
    const text = { type: 'string' } as const;
    const keys = { type: 'string', multiple: true } as const;
    const flag = { type: 'boolean' } as const;
    const options = { jwks: text, proof: text, rpc: text, json: flag, help: flag };
    return parseArgs({ allowPositionals: true, options: { ...options, 'log-key': keys, witness: keys } });
  } catch (fault) {
    throw new OperatorFault(fault instanceof Error ? fault.message : String(fault));
  }
}

async function main(): Promise<number> {
  const { positionals, values } = given();
  const { help = false, json = false, ...asked } = values;
  if (help) {
    console.log(USAGE);
    return 0;
  }
  const [source, ...more] = positionals;
  if (source === undefined || more.length > 0) {
    console.error(USAGE);
    return 2;
  }
  if (asked.rpc !== undefined && !isUrl(asked.rpc))
    throw new OperatorFault('--rpc wants a URL that begins with http:// or https://');
  return (await isFolder(source)) ? verifyFolder(source, asked, json) : verifyOne(source, asked, json);
}

async function isFolder(source: string): Promise<boolean> {
  if (isUrl(source) || source === STDIN) return false;
  return (await stat(source).catch(() => null))?.isDirectory() ?? false;
}

async function verifyOne(source: string, asked: VerifyAsked, json: boolean): Promise<number> {
  if (!json) {
    const examined = await examine(source, asked, new Map()).catch(fault => {
      // It may name what the document names, and that is a stranger's text.
      throw new OperatorFault(plain(fault.message), { cause: fault });
    });
    console.log(linesOf(examined).join('\n'));
    return exitCodes[documentOutcome(examined)];
  }
  const examined = await examine(source, asked, new Map()).catch(
    (fault): Unread => ({ source, unread: fault.message }),
  );
  console.log(examinedJson(examined));
  return exitCodes[outcome(examined)];
}

/** ECMA-48: to the first column, and nothing right of it. */
const CLEAR_LINE = '\r\u001b[K';

async function verifyFolder(folder: string, asked: VerifyAsked, json: boolean): Promise<number> {
  if (asked.proof !== undefined || asked['log-key'] !== undefined || asked.witness !== undefined)
    throw new OperatorFault(
      'a proof is of one receipt: give a file, not a directory, with --proof, --log-key or --witness',
    );
  const files = await documentsIn(folder);
  if (files.length === 0) throw new OperatorFault(`${folder} holds none of these: nothing was verified`);
  const counts: Record<DocumentOutcome, number> = { valid: 0, invalid: 0, unknown: 0 };
  const bar = progressBar(process.stderr, { unit: 'documents', total: files.length });
  // Under a bar on the same terminal only what is not valid is told, in the bar's place: it is drawn anew below.
  const on_bar = process.stdout.isTTY && process.stderr.isTTY && !json;
  for await (const examined of examineAll(files, asked)) {
    const found = outcome(examined);
    counts[found]++;

    const line = json
      ? examinedJson(examined)
      : 'unread' in examined
        ? plain(`  open  ${examined.unread}`)
        : lineOf(examined);
    if (!on_bar || found !== 'valid') console.log((on_bar ? CLEAR_LINE : '') + line);
    bar.show(counts.valid + counts.invalid + counts.unknown);
  }
  bar.end();
  const { valid, invalid, unknown } = counts;
  if (!json) console.log(`${files.length} documents: ${valid} valid, ${invalid} NOT valid, ${unknown} unknown.`);
  return exitCodes[invalid > 0 ? 'invalid' : unknown > 0 ? 'unknown' : 'valid'];
}

const outcome = (examined: Examined | Unread): DocumentOutcome =>
  'unread' in examined ? 'unknown' : documentOutcome(examined);

await run(async () => {
  process.exitCode = await main().catch(fault => {
    // Whatever a document does to its verifier, its reader has no use for our stack.
    throw fault instanceof Error ? new OperatorFault(fault.message, { cause: fault }) : fault;
  });
});
