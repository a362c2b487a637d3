import { stat } from 'node:fs/promises';
import { openTally } from '../../schema/audit/receipt-tally.ts';
import { documentEndings } from '../../subgraphs/receipt/verify/read-document.ts';
import { OperatorFault } from '../config/fault.ts';
import { givenWords, run } from '../operations/run.ts';
import { progressBar } from './export/progress-bar.ts';
import { documentsIn, examineAll, historiesIn } from './verify/directory.ts';
import {
  type DocumentOutcome,
  documentOutcome,
  type Examined,
  examine,
  exitCodes,
  type VerifyAsked,
} from './verify/examine.ts';
import { examinedJson, type Unread } from './verify/json.ts';
import { lineOf, linesOf, linesOfTally, plain } from './verify/lines.ts';
import { isUrl, STDIN } from './verify/source.ts';

/*
 * `npm run verify -- FILE|URL|DIR|-`: verifies a receipt, or any other document that this service signs or that wallets sign for it,
 * or every one in a directory, asking the service for it and for its key set and nothing else.
 */

const ENDINGS = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(documentEndings);

const USAGE = `usage: npm run verify -- FILE|URL|DIR|- [--jwks FILE|URL] [--base-url URL] [--rpc URL] [--json]
                        [--proof FILE|URL] [--log-key VKEY]... [--witness VKEY]...

Verifies a receipt (or an answer that carries one as "svc"; or what ?format=cose or ?format=vc shows), a signed refusal, what ?format=auditor shows of
either (offline, by the keys that it brings), a published export, the claim of an inflow (or its row) or the verdict of a dispute (or the dispute), whose rule is run again, a reconciliation (or its answer), or what is signed of a book's total and of a payment;
a checkpoint, head or declared break of the log, an agent card, signed offers and receipts of x402 (also as the headers carry them), and the grants, acts, revocations and texts that wallets and session keys sign. Without --jwks the key set is fetched from whom the document itself names; give --jwks to trust nobody but that
file. With --base-url the links of a document may lead there, too: to where a service has moved since. - reads standard input. Of a directory,
every file in it and below whose name ends in ${ENDINGS} is verified, on all cores, a line for each.

With --proof a receipt has to stand in the log by that proof (C2SP tlog-proof), signed by one of --log-key; with --witness, each
of those has to have cosigned its checkpoint. Of a receipt at a URL, proof and key are fetched from there unless given.

With --rpc a receipt's transfer is looked up on Base, by that node: payer, payee, amount of USDC, confirmations.
For a receipt it prints payer, payee, amount and reference, or that it is no spend; for an export how many rows of the book it has, by
which filters, and whether it is complete; for a directory sums by payer and network, which count each receipt and transfer once.
With --json it prints one JSON object for each document, on a line of its own; for a directory also a last one, "summary", with the sums.

Exit code: 0 valid; 1 something is not valid; 2 this usage; 3 something could not be looked at or cannot be decided, and all else is valid.`;

function given() {
  const text = { type: 'string' } as const;
  const keys = { type: 'string', multiple: true } as const;
  const flag = { type: 'boolean' } as const;
  const options = { jwks: text, 'base-url': text, proof: text, rpc: text, json: flag, help: flag };
  return givenWords({ allowPositionals: true, options: { ...options, 'log-key': keys, witness: keys } });
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
    throw new OperatorFault('--rpc requires a URL that begins with http:// or https://');
  if (asked['base-url'] !== undefined && !isUrl(asked['base-url']))
    throw new OperatorFault('--base-url requires a URL that begins with http:// or https://');
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
  const { documents: files, skipped } = await documentsIn(folder);
  if (files.length === 0)
    throw new OperatorFault(`${folder} contains no file whose name ends in ${ENDINGS}: nothing was verified`);
  const counts: Record<DocumentOutcome, number> = { valid: 0, invalid: 0, unknown: 0 };
  const receipts = openTally();
  const bar = progressBar(process.stderr, { unit: 'documents', total: files.length });
  // Under a bar on the same terminal only what is not valid is told, in the bar's place: it is drawn anew below.
  const on_bar = process.stdout.isTTY && process.stderr.isTTY && !json;
  const histories = await historiesIn(files);
  for await (const examined of examineAll(files, { ...asked, histories })) {
    const found = outcome(examined);
    counts[found]++;
    if (!('unread' in examined) && found !== 'invalid' && examined.spend)
      receipts.add(examined.verified.claims ?? {}, examined.spend);
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
  const tally = receipts.tally();
  if (json)
    console.log(JSON.stringify({ summary: { documents: files.length, skipped, valid, invalid, unknown, ...tally } }));
  else {
    console.log(`${files.length} documents: ${valid} valid, ${invalid} NOT valid, ${unknown} unknown.`);
    if (skipped > 0)
      console.log(
        `Skipped ${skipped === 1 ? '1 entry: a link, or a file' : `${skipped} entries: links, or files`} with another ending than ${ENDINGS}.`,
      );
    for (const line of linesOfTally(tally)) console.log(line);
  }
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
