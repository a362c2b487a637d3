import { LRUCache } from 'lru-cache';
import type { Columns } from './door.ts';
import type { Port } from './port.ts';
import type { Answer } from './problem.ts';

/** For responses that never change once they exist. */
export const KEPT_FOR_GOOD = 'public, max-age=31536000, immutable';

export const OCTETS = 'application/octet-stream';
export const ZIP = 'application/zip';

/** Media types of binary responses. On the graph, and in `response` of the row, they are base64. */
const BYTES: ReadonlySet<string> = new Set([OCTETS, ZIP]);
const isBytes = (media: string) => BYTES.has(media) || media.endsWith('+cose');

/** Base64 is decoded for binary media types; other text is sent verbatim. */
export function bodyIn(media: string, text: string): string | Buffer {
  return isBytes(media) ? Buffer.from(text, 'base64') : text;
}

/** About 2,000 tiles of 8 KiB. */
const KEPT_BYTES_MAX = 16 * 2 ** 20;

const kept = new WeakMap<Port, LRUCache<string, Answer>>();

/**
 * Keeps immutable bytes in memory, because all followers of a log request the same tiles. All other responses are made by `make` each time.
 */
export async function cacheBytes(
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

/** The constant is for the key and the entry itself. */
function sizeOf({ body }: Answer, key: string): number {
  return (body?.length ?? 0) + key.length + 512;
}
