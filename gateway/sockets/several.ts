import { sha256Hex } from '../../schema/digest.ts';
import type { AgentId } from '../../schema/ids.ts';
import type { HeldBook } from '../../schema/principal.ts';
import type { ShownCredentials } from '../graph/identify.ts';
import type { Line } from './line.ts';
import type { Resting } from './one-book.ts';

/* A socket that showed sessions, and what goes where one of several ends. */

export interface SessionSocket {
  readonly line: Line;
  /** At connection_init. Kept, because whoever was let in may be locked out while the socket is open. */
  shown: ShownCredentials;
  /** Null until the session has been looked up: until then it may be anybody's. */
  agent_ids: ReadonlySet<AgentId> | null;
  /** Hashes of those of several sessions that have ended. */
  readonly ended: Set<string>;
  /** Operations, with the hashes of the sessions that each rests on, where there are several. */
  readonly resting: Map<AbortController, readonly string[]>;
  /** While it is held back: resolves when the socket has been looked at, and is closed or free again. */
  held: Promise<void> | null;
  /** What was looked up may be out of date: once more. */
  again: boolean;
}

export function isOfSeveral({ sessions, of_several = false }: ShownCredentials): boolean {
  return sessions.length > 1 || of_several;
}

/** Ended from the start where a session has ended since its caller was looked up. */
export function rest({ resting, ended }: SessionSocket, hashes: readonly string[]): Resting {
  const operation = new AbortController();
  resting.set(operation, hashes);
  if (hashes.some(hash => ended.has(hash))) operation.abort();
  return { ended: operation.signal, release: () => void resting.delete(operation) };
}

/** Lets go of those of several sessions that have ended, and ends what rests on them. False where all or none have. */
export async function letGo(
  possessed: SessionSocket,
  held: (session: string) => Promise<HeldBook | null>,
): Promise<boolean> {
  const { shown } = possessed;
  if (shown.sessions.length < 2) return false;
  const books = await Promise.all(shown.sessions.map(session => held(session)));
  const left = shown.sessions.filter((_, index) => books[index] !== null);
  if (left.length === 0 || left.length === shown.sessions.length) return false;
  possessed.shown = { ...shown, sessions: left, of_several: true };
  for (const session of shown.sessions) if (!left.includes(session)) possessed.ended.add(sha256Hex(session));
  for (const [operation, hashes] of possessed.resting)
    if (hashes.some(hash => possessed.ended.has(hash))) operation.abort();
  return true;
}
