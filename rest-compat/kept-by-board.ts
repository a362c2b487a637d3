import { LRUCache } from 'lru-cache';
import type { JsonObject } from '../schema/canonical-json.ts';
import type { Columns } from './door.ts';
import type { Port } from './port.ts';
import type { Answer } from './problem.ts';

/** Columns of a door that reads the public board, for anybody: it has an ETag, and what is taken down is gone from caches soon. */
export const PUBLIC_BOARD = { cache: 'public, max-age=2' } as const;

/** The same, of what costs more than a look at the board's version: its answers are kept until the board moves. */
export const KEPT_BY_BOARD = { ...PUBLIC_BOARD, kept_by: 'board' } as const;

const KEPT_BYTES_MAX = 16 * 2 ** 20;

interface Kept {
  readonly version: string;
  readonly answer: Answer;
}

interface KeptAnswers {
  readonly answers: LRUCache<string, Kept>;
  /** What is being made, by key and version: whoever asks for the same meanwhile waits for it. */
  readonly making: Map<string, Promise<Answer>>;
}

const keptBy = new WeakMap<Port, KeptAnswers>();

/** What an answer is to: the same for everybody, so who asks is not in it. */
export interface AskedOfBoard extends Pick<Columns, 'name' | 'media' | 'status' | 'kept_by'> {
  readonly variables: JsonObject;
}

/**
 * An answer that stands until the board moves: while its version is the same no page is read, neither for a 200 nor for a 304.
 * The version is asked for first, so that what is made is at least as new as that, and what is hidden or taken down is gone
 * with the commit that did it. Every other door's answer is made each time.
 */
export async function keptByBoard(
  { name, media, status, kept_by, variables }: AskedOfBoard,
  port: Port,
  make: () => Promise<Answer>,
): Promise<Answer> {
  if (kept_by === null) return make();
  const version = await port.boardVersion();
  const { answers, making } = keptOf(port);
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

function keptOf(port: Port): KeptAnswers {
  const known = keptBy.get(port);
  if (known) return known;
  const answers = new LRUCache<string, Kept>({ maxSize: KEPT_BYTES_MAX, sizeCalculation: sizeOf });
  const kept = { answers, making: new Map<string, Promise<Answer>>() };
  keptBy.set(port, kept);
  return kept;
}

/** A little of it is the key and what keeps it. */
function sizeOf({ answer: { body } }: Kept, key: string): number {
  return (body?.length ?? 0) + key.length + 512;
}
