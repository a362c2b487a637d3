import { createReadStream } from 'node:fs';
import { type FileHandle, open, rename, writeFile } from 'node:fs/promises';
import { type StreamFormat, streamFormats } from '../../schema/requests/export.ts';
import { wordList } from '../../schema/words.ts';
import { OperatorFault } from '../config/fault.ts';
import { givenSession } from '../config/of-commands.ts';
import { readConfig } from '../config/read-config.ts';
import { givenWords, run } from '../operations/run.ts';
import { progressBar } from './export/progress-bar.ts';
import { ExportRows, type RowFormat } from './export/rows.ts';

/*
 * `npm run export -- --agent N --out FILE`: the whole book of an agent into a file, by the door that streams it. What was
 * cut off goes on behind the last whole row when it is run again; the file has its name only once it is whole.
 */

const USAGE = `usage: SVC_SESSION=... npm run export -- --agent N --out FILE [--format csv|ndjson|parquet]
                        [--session-file FILE] [--url URL]
       SVC_SESSION=... npm run export -- --agent N --out FILE.zip --bundle [--before SEQ]

The format is that of FILE's ending: .csv, .ndjson (or .jsonl) or .parquet. A name without an ending needs --format.
Until it is complete, the export is in FILE.part; run the command again to continue after its last whole row (a Parquet
file starts over). The session is read from SVC_SESSION or --session-file.

With --bundle FILE is a zip archive of the newest 200 rows, or of those before --before: the audit pack, the receipt or refusal of
each row, keys, histories and proofs of the log. npm run verify -- FILE.zip checks it offline.`;

const ANSWER_MS_MAX = 30_000;

interface Export {
  readonly agent: string;
  readonly out: string;
  readonly format: StreamFormat;
  readonly url: string;
  readonly session_file: string | undefined;
}

function asked(): Export | null {
  const text = { type: 'string' } as const;
  const options = { agent: text, out: text, format: text, url: text, 'session-file': text };
  const { agent, out, format: told, url, 'session-file': session_file } = givenWords({ options }).values;
  if (!agent || !/^[1-9]\d*$/.test(agent) || !out) return null;
  if (told !== undefined && !isFormat(told)) return null;
  return { agent, out, format: formatOf(out, told), session_file, url: url ?? readConfig().base_url };
}

/** What the ending of a file's name stands for. */
const endings: ReadonlyMap<string, StreamFormat> = new Map([
  ['csv', 'csv'],
  ['ndjson', 'ndjson'],
  ['jsonl', 'ndjson'],
  ['parquet', 'parquet'],
]);

/** @throws OperatorFault where the name of the file says another format, or none is said at all */
function formatOf(out: string, told: StreamFormat | undefined): StreamFormat {
  const [, ending] = /\.([^./\\]+)$/.exec(out.toLowerCase()) ?? [];
  const known = 'use .csv, .ndjson, .jsonl or .parquet';
  if (ending === undefined) {
    if (told !== undefined) return told;
    throw new OperatorFault(`--out ${out}: the file name has no ending; ${known}, or pass --format`);
  }
  const named = endings.get(ending);
  if (named === undefined) throw new OperatorFault(`--out ${out}: ${ending} is not an export format; ${known}`);
  if (told !== undefined && named !== told)
    throw new OperatorFault(`--out ${out}: the file name says ${named}, but --format says ${told}`);
  return named;
}

function isFormat(text: string): text is StreamFormat {
  return wordList(streamFormats).some(format => format === text);
}

/** The rows that lie in the part of a file already; what follows the last whole one is cut off. */
async function kept(file: FileHandle, part: string, format: RowFormat): Promise<ExportRows> {
  const rows = new ExportRows(format);
  for await (const piece of createReadStream(part)) rows.take(piece as Buffer);
  const begun = rows.last_seq > 0;
  await file.truncate(begun ? rows.whole_bytes : 0);
  if (!begun) return new ExportRows(format);
  rows.cut();
  return rows;
}

/** @throws OperatorFault with what the door answered */
async function openStream({ agent, url, format, session_file }: Export, after: number): Promise<Response> {
  const session = await givenSession(session_file);
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
  const why =
    answer.status === 401 || answer.status === 403 ? 'the session does not open this book' : 'ask again later';
  throw new OperatorFault(`${url} answered ${answer.status}: ${why}`);
}

/** Writes what comes behind what is there; whether all of it has come. */
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
  /** Only rows of a lower seq; null: from the newest on. */
  readonly before: string | null;
}

/** Null where no bundle is asked for. @throws OperatorFault where it is asked for otherwise than it can be */
function bundleAsked(): Bundle | null {
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
    throw new OperatorFault(USAGE);
  return { agent, out, before, session_file, url: url ?? readConfig().base_url };
}

/** An archive comes in one piece: it is there or not. */
async function writeBundle({ agent, out, url, before, session_file }: Bundle): Promise<number> {
  const session = await givenSession(session_file);
  const query = new URLSearchParams({ format: 'bundle', ...(before !== null && { before }) });
  const answer = await fetch(`${url}/v1/agents/${agent}/book/export?${query}`, {
    headers: { 'X-SVC-Session': session.reveal() },
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
  }).catch(() => null);
  if (answer === null)
    throw new OperatorFault(`${url} does not answer; check the address, and whether the service runs`);
  if (!answer.ok)
    throw new OperatorFault(
      `${url} answered ${answer.status}: the session does not open this book, or the service cannot answer now: retry later`,
    );
  await writeFile(`${out}.part`, new Uint8Array(await answer.arrayBuffer()));
  await rename(`${out}.part`, out);
  const next = /[?&]before=(\d+)/.exec(answer.headers.get('link') ?? '')?.[1];
  const whole = next === undefined ? 'no older rows match' : `older rows match: continue with --before ${next}`;
  console.log(`${out}: a bundle of book ${agent}; ${whole}`);
  return 0;
}

async function main(): Promise<number> {
  const bundle = bundleAsked();
  if (bundle !== null) return writeBundle(bundle);
  const it = asked();
  if (it === null) {
    console.error(USAGE);
    return 2;
  }
  const part = `${it.out}.part`;
  const file = await open(part, it.format === 'parquet' ? 'w' : 'a');
  try {
    const rows = it.format === 'parquet' ? null : await kept(file, part, it.format);
    const whole = await fill(file, await openStream(it, rows?.last_seq ?? 0), rows);
    if (!whole) throw new OperatorFault(`cut off in the midst: run it again to go on (${part})`);
    await file.sync();
    await rename(part, it.out);
    console.log(`${it.out}: ${rows === null ? 'all rows' : `${rows.rows} rows`} of book ${it.agent}`);
    return 0;
  } finally {
    await file.close();
  }
}

await run(async () => {
  process.exitCode = await main();
});
