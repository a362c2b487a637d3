import type { AgentId } from '../../../schema/ids.ts';

/** Where a book's chain of events ends: the position of its newest event, and that event's hash. */
export interface EventHead {
  readonly agent_id: AgentId;
  readonly position: number;
  readonly hash: string;
}

export type EventHeadComparison =
  | 'same'
  /** Longer: it goes on from the known one if that event still stands. */
  | 'longer'
  /** Shorter, or as long and another: what was committed is gone. */
  | 'gone_back';

/** Null: there is no such book. */
export function compareEventHeads(known: EventHead, found: Omit<EventHead, 'agent_id'> | null): EventHeadComparison {
  if (found === null || found.position < known.position) return 'gone_back';
  if (found.position > known.position) return 'longer';
  return found.hash === known.hash ? 'same' : 'gone_back';
}
