import { stat } from 'node:fs/promises';
import { openTally } from '../../schema/audit/receipt-tally.ts';
import { documentEndings } from '../../subgraphs/receipt/verify/read-document.ts';
import { OperatorFault, UsageFault } from '../config/fault.ts';
import { givenWords, run } from '../operations/run.ts';
import { progressBar } from './export/progress-bar.ts';
import { documentsIn, examineAll, historiesIn } from './verify/directory.ts';
import {
  type DocumentOutcome,
  documentOutcome,
  type ExaminedDocument,
  examine,
  exitCodes,
  type VerifyCommandOptions,
} from './verify/examine.ts';
import { examinedJson, type UnreadDocument } from './verify/json.ts';
import { lineOf, linesOf, linesOfTally, plain } from './verify/lines.ts';
import { isUrl, STDIN } from './verify/source.ts';

/*
 * `npm run verify -- FILE|URL|DIR|-`: verifies a document that the service or its wallets signed, or all documents of a directory.
 * It requests at most the document, its key set and its proof.
 */

const ENDINGS = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(documentEndings);

const USAGE = `usage: npm run verify -- FILE|URL|DIR|- [--jwks FILE|URL] [--base-url URL] [--rpc URL] [--json]
                        [--proof FILE|URL] [--log-key VKEY]... [--witness VKEY]...

Verifies signed documents offline. The source is a file, a URL, standard input (-) or a directory, whose files that end in
${ENDINGS} are all verified. Documents are:

  - a receipt, or a response that contains one as "svc"; a signed refusal; the forms ?format=cose, ?format=vc and ?format=auditor
  - a published export, an inflow claim, a dispute's verdict (its rule is run again), a reconciliation, a proven total, an export bundle
  - a checkpoint, tree head or declared break of the log; issuer, policy and revocation histories; an agent card
  - x402 offers and receipts, also as header values; grants, acts, revocations and texts that wallets and session keys signed

  --jwks      the key set to trust (default: fetched from the URL that the document names; an audit document brings its own)
  --base-url  current address of the service, if it has moved since the document was signed
  --proof     proof that the receipt is in the log (C2SP tlog-proof; default for a receipt at a URL: fetched from its service)
  --log-key   verifier key of the log that must have signed the proof; may be repeated
  --witness   verifier key of a witness that must have cosigned the checkpoint; may be repeated
  --rpc       a node of Base, where the receipt's transfer is looked up: payer, payee, amount, confirmations
  --json      one JSON object per document and line; for a directory also a last one, "summary"

For a receipt it prints payer, payee, amount and payment reference; for an export the number of rows, the filters and whether it is
complete; for a directory sums by payer and network, each receipt and transfer counted once.

Exit code: 0 all valid; 1 something is invalid; 2 wrong arguments, or none; 3 something could not be read or checked, and all else is
valid.`;

function given() {
  const text = { type: 'string' } as const;
  const keys = { type: 'string', multiple: true } as const;
  const flag = { type: 'boolean' } as const;
  const options = { jwks: text, 'base-url': text, proof: text, rpc: text, json: flag, help: flag };
  return givenWords({ allowPositionals: true, options: { ...options, 'log-key': keys, witness: keys } });
}

async function main(): Promise<number> {
  const { positionals, values } = given();
  const { help = false, json = false, ...options } = values;
  if (help) {
    console.log(USAGE);
    return 0;
  }
  const [source, ...more] = positionals;
  if (source === undefined || more.length > 0) throw new UsageFault();
  if (options.rpc !== undefined && !isUrl(options.rpc))
    throw new UsageFault('--rpc requires a URL that begins with http:// or https://');
  if (options['base-url'] !== undefined && !isUrl(options['base-url']))
    throw new UsageFault('--base-url requires a URL that begins with http:// or https://');
  return (await isFolder(source)) ? verifyFolder(source, options, json) : verifyOne(source, options, json);
}

async function isFolder(source: string): Promise<boolean> {
  if (isUrl(source) || source === STDIN) return false;
  return (await stat(source).catch(() => null))?.isDirectory() ?? false;
}

async function verifyOne(source: string, options: VerifyCommandOptions, json: boolean): Promise<number> {
  if (!json) {
    const examined = await examine(source, options, new Map()).catch(fault => {
      // The message may contain text from the document, which is untrusted.
      const Fault = fault instanceof UsageFault ? UsageFault : OperatorFault;
      throw new Fault(plain(fault.message), { cause: fault });
    });
    console.log(linesOf(examined).join('\n'));
    return exitCodes[documentOutcome(examined)];
  }
  const examined = await examine(source, options, new Map()).catch((fault): UnreadDocument => {
    if (fault instanceof UsageFault) throw fault;
    return { source, unread: fault.message };
  });
  console.log(examinedJson(examined));
  return exitCodes[outcome(examined)];
}

/** Control characters that move to the first column and erase the line (ECMA-48). */
const CLEAR_LINE = '\r\u001b[K';

async function verifyFolder(folder: string, options: VerifyCommandOptions, json: boolean): Promise<number> {
  if (options.proof !== undefined || options['log-key'] !== undefined || options.witness !== undefined)
    throw new UsageFault('--proof, --log-key and --witness are for one receipt; give a file or URL, not a directory');
  const { documents: files, skipped } = await documentsIn(folder);
  if (files.length === 0)
    throw new OperatorFault(`${folder} contains no file whose name ends in ${ENDINGS}: nothing was verified`);
  const counts: Record<DocumentOutcome, number> = { valid: 0, invalid: 0, unknown: 0 };
  const receipts = openTally();
  const bar = progressBar(process.stderr, { unit: 'documents', total: files.length });
  // If a terminal shows a progress bar, only documents that are not valid get a line, which is printed over the bar.
  const on_bar = process.stdout.isTTY && process.stderr.isTTY && !json;
  const histories = await historiesIn(files);
  for await (const examined of examineAll(files, { ...options, histories })) {
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

const outcome = (examined: ExaminedDocument | UnreadDocument): DocumentOutcome =>
  'unread' in examined ? 'unknown' : documentOutcome(examined);

await run(
  async () => {
    process.exitCode = await main().catch(fault => {
      if (fault instanceof UsageFault) throw fault;
      // A document that crashes the verifier is reported in one line without a stack.
      throw new OperatorFault(fault instanceof Error ? fault.message : String(fault), { cause: fault });
    });
  },
  { usage: USAGE, fault_code: exitCodes.unknown },
);
