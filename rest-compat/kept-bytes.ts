import { LRUCache } from 'lru-cache';
import type { Columns } from './door.ts';
import type { Port } from './port.ts';
import type { Answer } from './problem.ts';

/** Of what never changes once it is there. */
export const KEPT_FOR_GOOD = 'public, max-age=31536000, immutable';

export const OCTETS = 'application/octet-stream';
export const ZIP = 'application/zip';

/** Of an answer that is bytes: on the graph, and in the row's `response`, it is their base64. */
const BYTES: ReadonlySet<string> = new Set([OCTETS, ZIP]);
const isBytes = (media: string) => BYTES.has(media) || media.endsWith('+cose');

/** Text goes out verbatim, and base64 as the bytes that it is of. */
export function bodyIn(media: string, text: string): string | Buffer {
  return isBytes(media) ? Buffer.from(text, 'base64') : text;
}

/** Some 2,000 tiles of 8 KiB. */
const KEPT_BYTES_MAX = 16 * 2 ** 20;

const kept = new WeakMap<Port, LRUCache<string, Answer>>();

/**
 * Bytes that are the same for everybody and for good, kept in memory once they were read: whoever follows a log asks for the
 * tiles that others asked for. Everything else is made by `make` each time.
 */
export async function keptBytes(
  { cache, media, name }: Pick<Columns, 'cache' | 'media' | 'name'>,
  params: unknown,
  port: Port,
  make: () => Promise<Answer>,
): Promise<Answer> {
  if (cache !== KEPT_FOR_GOOD || media !== OCTETS) return make();
  const answers = kept.get(port) ?? new LRUCache<string, Answer>({ maxSize: KEPT_BYTES_MAX, sizeCalculation: sizeOf });
  kept.set(port, answers);
  const key = `${name} ${JSON.stringify(params)}`;
  const known = answers.get(key);
  if (known) return known;
  const answer = await make();
  if (answer.status === 200) answers.set(key, answer);
  return answer;
}

/** A little of it is the key and what keeps it. */
function sizeOf({ body }: Answer, key: string): number {
  return (body?.length ?? 0) + key.length + 512;
}
