import type { AgentId } from '../../../schema/ids.ts';

/** Where a book's chain of events ends: the position of its newest event, and that event's hash and time (ISO 8601). */
export interface EventHead {
  readonly agent_id: AgentId;
  readonly position: number;
  readonly hash: string;
  readonly at: string;
}

/** The newest of what opens or closes something and is no event of a book: a session that was issued, or a revocation. */
export interface CredentialHead {
  readonly credential: 'session' | 'revocation';
  /** Of the session's secret, or of the grant that was revoked. */
  readonly hash: string;
  readonly at: string;
}

export type KnownHead = EventHead | CredentialHead;

export function isEventHead(head: KnownHead): head is EventHead {
  return 'agent_id' in head;
}

export type EventHeadComparison =
  | 'same'
  /** Longer: it goes on from the known one if that event still stands. */
  | 'longer'
  /** Shorter, or as long and another: what was committed is gone. */
  | 'gone_back';

/** Null: there is no such book. */
export function compareEventHeads(
  known: EventHead,
  found: Pick<EventHead, 'position' | 'hash'> | null,
): EventHeadComparison {
  if (found === null || found.position < known.position) return 'gone_back';
  if (found.position > known.position) return 'longer';
  return found.hash === known.hash ? 'same' : 'gone_back';
}
