import type { AgentId } from '../../../schema/ids.ts';

/** End of the event chain of a book: position, hash and time (ISO 8601) of its newest event. */
export interface EventHead {
  readonly agent_id: AgentId;
  readonly position: number;
  readonly hash: string;
  readonly at: string;
}

/** The newest session that was issued, or the newest revocation. Neither is recorded as an event of a book. */
export interface CredentialHead {
  readonly credential: 'session' | 'revocation';
  /** Hash of the secret of the session, or of the revoked grant. */
  readonly hash: string;
  readonly at: string;
}

export type KnownHead = EventHead | CredentialHead;

export function isEventHead(head: KnownHead): head is EventHead {
  return 'agent_id' in head;
}

export type EventHeadComparison =
  | 'same'
  /** The book has more events than the known head. It continues from that head if the known event still exists. */
  | 'longer'
  /** The book has fewer events, or as many with another hash: committed events are missing. */
  | 'gone_back';

/** Compares a known head with the head in the database. `found` is null if the book does not exist. */
export function compareEventHeads(
  known: EventHead,
  found: Pick<EventHead, 'position' | 'hash'> | null,
): EventHeadComparison {
  if (found === null || found.position < known.position) return 'gone_back';
  if (found.position > known.position) return 'longer';
  return found.hash === known.hash ? 'same' : 'gone_back';
}
