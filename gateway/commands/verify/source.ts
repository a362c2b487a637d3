import { open } from 'node:fs/promises';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { strictJson } from '../../../subgraphs/receipt/verify/read-document.ts';
import { OperatorFault } from '../../config/fault.ts';

/* Reads a document from a file, a URL or standard input. Its size is limited and, for a URL, also the time. */

/** Name of standard input, as usual for commands. */
export const STDIN = '-';

const FETCH_TIMEOUT_MS = 10_000;
/** Maximum size. A published export has up to 200 rows, each with texts of callers. */
const BYTES_MAX = 8 * 1024 * 1024;

export const isUrl = (source: string) => /^https?:\/\//.test(source);

/** Reads a JSON object. @throws OperatorFault if the source cannot be read or is not a JSON object */
export async function jsonAt(source: string): Promise<JsonObject> {
  return strictJson(await readBytes(source, 'application/json')) ?? noKeySet(source);
}

/** Reports that the source does not contain the expected JSON object. @throws OperatorFault always */
function noKeySet(source: string): never {
  throw new OperatorFault(
    `${source} is not a JSON object in UTF-8, or has a duplicate member; give a key set with --jwks`,
  );
}

/** Reports that the source does not contain the expected JSON object. @throws OperatorFault always */
export function noDocument(source: string): never {
  throw new OperatorFault(
    `${source} is not a JSON object in UTF-8, or has a duplicate member; give a receipt, a refusal, a published export, a verdict, or a response that contains one`,
  );
}

/** Reads a text. @throws OperatorFault if the source cannot be read */
export async function readText(source: string): Promise<string> {
  return (await readBytes(source, 'text/plain')).toString();
}

/** Reads the bytes of a source. @throws OperatorFault if it cannot be read */
export async function readBytes(source: string, accept: string): Promise<Buffer> {
  if (source === STDIN) return boundedBytes(source, process.stdin);
  return isUrl(source) ? fetchBytes(source, accept) : readFileBytes(source);
}

async function readFileBytes(file: string): Promise<Buffer> {
  const handle = await open(file).catch(unreadable(file));
  try {
    // The length of devices and pipes is unknown, so the bytes are counted as they arrive.
    return await boundedBytes(file, handle.createReadStream({ autoClose: false }));
  } catch (fault) {
    if (fault instanceof OperatorFault) throw fault;
    return unreadable(file)(fault as NodeJS.ErrnoException);
  } finally {
    await handle.close();
  }
}

function unreadable(file: string) {
  return ({ code }: NodeJS.ErrnoException): never => {
    const why = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`;
    throw new OperatorFault(`${file}: ${why}; give a file, or a URL that begins with http:// or https://`);
  };
}

async function fetchBytes(url: string, accept: string): Promise<Buffer> {
  try {
    const answer = await fetch(url, { headers: { accept }, signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) });
    if (!answer.ok || !answer.body)
      throw new OperatorFault(`${url} answered with status ${answer.status} instead of a document; check the URL`);
    return await boundedBytes(url, answer.body);
  } catch (fault) {
    if (fault instanceof OperatorFault) throw fault;
    throw new OperatorFault(
      `${url} does not answer (${reasonOf(fault)}); check the address, and whether the service runs`,
    );
  }
}

/** Short reason why a request failed. */
export function reasonOf(fault: unknown): string {
  if (!(fault instanceof Error)) return String(fault);
  const { cause, name } = fault;
  return cause instanceof Error ? String('code' in cause ? cause.code : cause.message) : name;
}

/** Reads a text of limited size. @throws OperatorFault if the source is longer */
export async function boundedText(source: string, chunks: AsyncIterable<Uint8Array | string>): Promise<string> {
  return (await boundedBytes(source, chunks)).toString();
}

async function boundedBytes(source: string, chunks: AsyncIterable<Uint8Array | string>): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    const part = Buffer.from(chunk as Uint8Array);
    bytes += part.byteLength;
    if (bytes > BYTES_MAX)
      throw new OperatorFault(
        `${source} is larger than ${BYTES_MAX} bytes, the maximum of one document; give a smaller one`,
      );
    parts.push(part);
  }
  return Buffer.concat(parts);
}
