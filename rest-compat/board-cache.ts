import { LRUCache } from 'lru-cache';
import type { JsonObject } from '../schema/canonical-json.ts';
import type { Columns } from './door.ts';
import type { Port } from './port.ts';
import type { Answer } from './problem.ts';

/** Columns of a public endpoint of the board: it has an ETag, and caches revalidate soon after an entry is taken down. */
export const PUBLIC_BOARD = { cache: 'public, max-age=2' } as const;

/** The same for responses that cost more than reading the board's version: they are stored until the board changes. */
export const KEPT_BY_BOARD = { ...PUBLIC_BOARD, kept_by: 'board' } as const;

const KEPT_BYTES_MAX = 16 * 2 ** 20;

interface CachedAnswer {
  readonly version: string;
  readonly answer: Answer;
}

interface BoardCache {
  readonly answers: LRUCache<string, CachedAnswer>;
  /** Responses in progress by key and version, so that concurrent requests for the same share one. */
  readonly making: Map<string, Promise<Answer>>;
}

const keptBy = new WeakMap<Port, BoardCache>();

/** Key of a response. It is the same for every client, so it does not contain the caller. */
export interface BoardRead extends Pick<Columns, 'name' | 'media' | 'status' | 'kept_by'> {
  readonly variables: JsonObject;
}

/**
 * A response that is valid until the board changes: while the version is the same, nothing is read, neither for a 200 nor for a 304. The
 * version is read first, so that the response is at least as new, and hidden entries are gone with the commit that hid them. Other
 * endpoints make a new response for each request.
 */
export async function cacheBoardAnswer(
  { name, media, status, kept_by, variables }: BoardRead,
  port: Port,
  make: () => Promise<Answer>,
): Promise<Answer> {
  if (kept_by === null) return make();
  const version = await port.boardVersion();
  const { answers, making } = cacheOf(port);
  const key = JSON.stringify([name, media, variables]);
  const known = answers.get(key);
  if (known?.version === version) return known.answer;
  const turn = `${version} ${key}`;
  const underway = making.get(turn);
  if (underway) return underway;
  const made = make().finally(() => making.delete(turn));
  making.set(turn, made);
  const answer = await made;
  if (answer.status === status) answers.set(key, { version, answer });
  return answer;
}

function cacheOf(port: Port): BoardCache {
  const known = keptBy.get(port);
  if (known) return known;
  const answers = new LRUCache<string, CachedAnswer>({ maxSize: KEPT_BYTES_MAX, sizeCalculation: sizeOf });
  const kept = { answers, making: new Map<string, Promise<Answer>>() };
  keptBy.set(port, kept);
  return kept;
}

/** Approximate bytes of an entry. The constant is for the headers and the objects of the entry. */
function sizeOf({ answer: { body } }: CachedAnswer, key: string): number {
  return (body?.length ?? 0) + key.length + 512;
}
