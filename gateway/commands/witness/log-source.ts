import { NOTE_BYTES_MAX } from '../../../subgraphs/receipt/verify/note.ts';

/** The log does not respond, or not correctly, so its present state is unknown. */
export class LogAway extends Error {
  override name = 'LogAway';
}

const FETCH_MS_MAX = 10_000;
/** Number of hashes in a full tile (https://c2sp.org/tlog-tiles). */
const WIDTH = 256;
const HASH = 32;

/** Reads a log by its URL prefix. Each response is limited in time and size, and redirects are refused. */
export class LogSource {
  readonly prefix: string;

  /** `prefix` has no trailing slash. */
  constructor(prefix: string) {
    this.prefix = prefix;
  }

  /** The signed note of the checkpoint, not verified. @throws LogAway */
  async checkpoint(): Promise<string> {
    const found = await this.#bytes('checkpoint', NOTE_BYTES_MAX);
    if (found === null) throw new LogAway(`${this.prefix} has no checkpoint`);
    return textOf(found, this.prefix);
  }

  /** The keys that the log publishes, if any. C2SP's specification does not include them. @throws LogAway */
  async verifierKeys(): Promise<readonly string[]> {
    const found = await this.#bytes('verifier-keys', NOTE_BYTES_MAX);
    return found === null ? [] : textOf(found, this.prefix).split('\n').filter(Boolean);
  }

  /** The first `width` hashes of a tile, concatenated. @throws LogAway */
  async tile(level: number, index: number, width: number): Promise<Buffer> {
    const path = `tile/${level}/${tilePath(index)}`;
    const partial = width < WIDTH ? await this.#bytes(`${path}.p/${width}`, width * HASH) : null;
    // A log may remove a partial tile when the full tile exists.
    const found = partial ?? (await this.#bytes(path, WIDTH * HASH));
    const wanted = partial ? width * HASH : WIDTH * HASH;
    if (found?.length !== wanted)
      throw new LogAway(`${this.prefix}/${path} has ${found?.length ?? 'no'} bytes instead of ${wanted}`);
    return found.subarray(0, width * HASH);
  }

  /** Body of the response; null for 404 and 410. */
  async #bytes(path: string, bytes_max: number): Promise<Buffer | null> {
    const url = `${this.prefix}/${path}`;
    try {
      const answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(FETCH_MS_MAX) });
      if (answer.status === 200 && answer.body !== null) return await readWithin(answer.body, bytes_max, url);
      await answer.body?.cancel();
      if (answer.status === 404 || answer.status === 410) return null;
      throw new LogAway(`${url} answered ${answer.status}`);
    } catch (fault) {
      if (fault instanceof LogAway) throw fault;
      throw new LogAway(`${url} does not answer (${reasonOf(fault)})`, { cause: fault });
    }
  }
}

export async function readWithin(body: ReadableStream<Uint8Array>, bytes_max: number, url: string): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > bytes_max) throw new LogAway(`${url} sends more than ${bytes_max} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function textOf(bytes: Buffer, prefix: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new LogAway(`${prefix} sends something that is not UTF-8 text`);
  }
}

/** Short reason of an error, taken from its cause: `fetch failed` alone explains nothing. */
function reasonOf(fault: unknown): string {
  if (!(fault instanceof Error)) return String(fault);
  const { cause } = fault;
  if (!(cause instanceof Error)) return fault.name === 'TimeoutError' ? 'not in time' : fault.message;
  return 'code' in cause ? String(cause.code) : cause.message;
}

/** Path of a tile, such as `x001/x234/067`: groups of three digits, all but the last with the prefix x. */
function tilePath(index: number): string {
  const groups = [String(index % 1_000).padStart(3, '0')];
  for (let rest = Math.floor(index / 1_000); rest > 0; rest = Math.floor(rest / 1_000))
    groups.unshift(`x${String(rest % 1_000).padStart(3, '0')}`);
  return groups.join('/');
}
