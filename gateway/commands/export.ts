import { createReadStream } from 'node:fs';
import { type FileHandle, open, rename, writeFile } from 'node:fs/promises';
import { type StreamFormat, streamFormats } from '../../schema/requests/export.ts';
import { wordList } from '../../schema/words.ts';
import { readSession } from '../config/command-settings.ts';
import { OperatorFault, UsageFault } from '../config/fault.ts';
import { readConfig } from '../config/read-config.ts';
import { givenWords, run } from '../operations/run.ts';
import { progressBar } from './export/progress-bar.ts';
import { ExportRows, type RowFormat } from './export/rows.ts';

/*
 * `npm run export -- --agent N --out FILE`: writes the whole book of an agent to a file, through the streaming endpoint. If it is
 * run again after an interruption, it continues after the last complete row. The file gets its final name when it is complete.
 */

const USAGE = `usage: SVC_SESSION=... npm run export -- --agent N --out FILE [--format csv|ndjson|parquet]
                        [--session-file FILE] [--url URL]
       SVC_SESSION=... npm run export -- --agent N --out FILE.zip --bundle [--before SEQ]

Writes every row of the book of agent N to FILE. The ending of FILE sets the format: .csv, .ndjson (or .jsonl) or .parquet;
without an ending, give --format. Until the export is complete it is in FILE.part; run the command again to continue after its last
complete row (a Parquet file starts over). The book session is read from SVC_SESSION or --session-file; --url is the service
(default: the one that this configuration serves).

With --bundle FILE is a zip archive of up to 200 rows, the newest or those before SEQ: the audit pack, the receipt or refusal of
each row, keys, histories and proofs of the log. npm run verify -- FILE.zip checks it offline.`;

const ANSWER_MS_MAX = 30_000;

interface Export {
  readonly agent: string;
  readonly out: string;
  readonly format: StreamFormat;
  readonly url: string;
  readonly session_file: string | undefined;
}

/** The options on the command line. @throws UsageFault if an option is missing or invalid */
function exportOptions(): Export {
  const text = { type: 'string' } as const;
  const options = { agent: text, out: text, format: text, url: text, 'session-file': text };
  const { agent, out, format, url, 'session-file': session_file } = givenWords({ options }).values;
  if (!agent || !/^[1-9]\d*$/.test(agent) || !out) throw new UsageFault();
  if (format !== undefined && !isFormat(format)) throw new UsageFault();
  return { agent, out, format: formatOf(out, format), session_file, url: url ?? readConfig().base_url };
}

/** Formats by the extension of the file name. */
const endings: ReadonlyMap<string, StreamFormat> = new Map([
  ['csv', 'csv'],
  ['ndjson', 'ndjson'],
  ['jsonl', 'ndjson'],
  ['parquet', 'parquet'],
]);

/** The format of the file. @throws UsageFault if the file name shows another format than --format, or neither gives one */
function formatOf(out: string, chosen: StreamFormat | undefined): StreamFormat {
  const [, ending] = /\.([^./\\]+)$/.exec(out.toLowerCase()) ?? [];
  const known = 'use .csv, .ndjson, .jsonl or .parquet';
  if (ending === undefined) {
    if (chosen !== undefined) return chosen;
    throw new UsageFault(`--out ${out}: the file name has no ending; ${known}, or pass --format`);
  }
  const named = endings.get(ending);
  if (named === undefined) throw new UsageFault(`--out ${out}: ${ending} is not an export format; ${known}`);
  if (chosen !== undefined && named !== chosen)
    throw new UsageFault(`--out ${out}: the file name says ${named}, but --format says ${chosen}; change one of them`);
  return named;
}

function isFormat(text: string): text is StreamFormat {
  return wordList(streamFormats).some(format => format === text);
}

/** Reads the rows that an earlier run has written, and removes an incomplete last row from the file. */
async function readWrittenRows(file: FileHandle, part: string, format: RowFormat): Promise<ExportRows> {
  const rows = new ExportRows(format);
  for await (const piece of createReadStream(part)) rows.take(piece as Buffer);
  const begun = rows.last_seq > 0;
  await file.truncate(begun ? rows.whole_bytes : 0);
  if (!begun) return new ExportRows(format);
  rows.cut();
  return rows;
}

/** Requests the rows after seq `after`. @throws OperatorFault if the endpoint does not respond, or refuses */
async function openStream({ agent, url, format, session_file }: Export, after: number): Promise<Response> {
  const session = await readSession(session_file);
  const query = new URLSearchParams({ format, after: String(after) });
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), ANSWER_MS_MAX);
  const answer = await fetch(`${url}/v1/agents/${agent}/book/export/stream?${query}`, {
    headers: { 'X-SVC-Session': session.reveal() },
    signal: late.signal,
  }).catch(() => null);
  clearTimeout(timer);
  if (answer === null)
    throw new OperatorFault(`${url} does not answer; check the address, and whether the service runs`);
  if (answer.ok) return answer;
  await answer.body?.cancel();
  throw new OperatorFault(`${url} answered with status ${answer.status}: ${wayOn(answer.status)}`);
}

function wayOn(status: number): string {
  if (status === 401 || status === 403) return 'the session does not open this book; check it and --agent';
  if (status === 429 || status >= 500) return 'try again later';
  return 'this is not the address of a service with this book; check --url and --agent';
}

/** Appends the rows that arrive. Returns whether the export is complete. */
async function fill(file: FileHandle, answer: Response, rows: ExportRows | null): Promise<boolean> {
  const before = rows?.rows ?? 0;
  const total = before + Number(answer.headers.get('x-svc-export-rows'));
  const bar = progressBar(process.stderr, { unit: rows ? 'rows' : 'bytes', total: rows ? total : null });
  let bytes = 0;
  try {
    for await (const piece of answer.body ?? []) {
      await file.write(piece);
      bytes += piece.byteLength;
      rows?.take(piece);
      bar.show(rows?.rows ?? bytes);
    }
  } catch {
    return false;
  } finally {
    bar.end();
  }
  return rows === null || rows.rows === total;
}

interface Bundle extends Pick<Export, 'agent' | 'out' | 'url' | 'session_file'> {
  /** Only rows with a lower seq are exported; null for the newest rows. */
  readonly before: string | null;
}

/** The options of a bundle; null without --bundle. @throws UsageFault if the options do not fit together */
function bundleOptions(): Bundle | null {
  const text = { type: 'string' } as const;
  const options = { agent: text, out: text, format: text, url: text, 'session-file': text, before: text };
  const { values } = givenWords({ options: { ...options, bundle: { type: 'boolean' } } });
  const { agent, out, format, url, bundle, before = null, 'session-file': session_file } = values;
  if (!bundle && before === null) return null;
  if (
    !bundle ||
    !agent ||
    !out?.endsWith('.zip') ||
    format !== undefined ||
    !/^[1-9]\d*$/.test(`${agent}${before ?? ''}`)
  )
    throw new UsageFault();
  return { agent, out, before, session_file, url: url ?? readConfig().base_url };
}

/** Writes an archive. It is one response, so it is written at once. */
async function writeBundle({ agent, out, url, before, session_file }: Bundle): Promise<void> {
  const session = await readSession(session_file);
  const query = new URLSearchParams({ format: 'bundle', ...(before !== null && { before }) });
  const answer = await fetch(`${url}/v1/agents/${agent}/book/export?${query}`, {
    headers: { 'X-SVC-Session': session.reveal() },
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
  }).catch(() => null);
  if (answer === null)
    throw new OperatorFault(`${url} does not answer; check the address, and whether the service runs`);
  if (!answer.ok)
    throw new OperatorFault(
      `${url} answered with status ${answer.status}: check the session, --agent and --url, or try again later`,
    );
  await writeFile(`${out}.part`, new Uint8Array(await answer.arrayBuffer()));
  await rename(`${out}.part`, out);
  const next = /[?&]before=(\d+)/.exec(answer.headers.get('link') ?? '')?.[1];
  const whole = next === undefined ? 'no older rows match' : `older rows match: continue with --before ${next}`;
  console.log(`${out}: a bundle of book ${agent}; ${whole}`);
}

async function main(): Promise<void> {
  const bundle = bundleOptions();
  if (bundle !== null) return writeBundle(bundle);
  const it = exportOptions();
  const part = `${it.out}.part`;
  const file = await open(part, it.format === 'parquet' ? 'w' : 'a');
  try {
    const rows = it.format === 'parquet' ? null : await readWrittenRows(file, part, it.format);
    const whole = await fill(file, await openStream(it, rows?.last_seq ?? 0), rows);
    if (!whole)
      throw new OperatorFault(
        `The export was interrupted. Its beginning is in ${part}. Run the command again to complete it (a Parquet file starts over).`,
      );
    await file.sync();
    await rename(part, it.out);
    console.log(`${it.out}: ${rows === null ? 'all rows' : `${rows.rows} rows`} of book ${it.agent}`);
  } finally {
    await file.close();
  }
}

await run(main, { usage: USAGE });
