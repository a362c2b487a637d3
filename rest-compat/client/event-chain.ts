import { canonicalHash, type JsonObject } from '../../schema/canonical-json.ts';

/** An event of a book, with the members that `hash` covers. */
export interface FollowedEvent {
  readonly agent_id: number;
  /** Its number among the events of the book, from 1, without gaps. */
  readonly position: number;
  readonly kind: string;
  readonly seq: number | null;
  readonly task_id: string | null;
  readonly body: JsonObject;
  /** RFC 3339, in UTC with milliseconds. */
  readonly at: string;
  /** `hash` of the event before it; empty for the first. */
  readonly prev_hash: string;
  readonly hash: string;
  /** The selected fields of the row when the event was read; not covered by `hash`. */
  readonly row: JsonObject | null;
}

/** The last event of a book that a store has. */
export interface BookCursor {
  readonly position: number;
  readonly hash: string;
}

/** The cursor before the first event. */
export const BOOK_START: BookCursor = { position: 0, hash: '' };

/** The relation of an event to a store that has all events up to a cursor. */
export type ChainStep =
  | { readonly kind: 'next'; readonly cursor: BookCursor }
  /** The store has it already. */
  | { readonly kind: 'known' }
  /** An event in between is missing. */
  | { readonly kind: 'gap' }
  /** `altered`: the hash does not match the event. `unchained`: the event does not follow the stored one. */
  | { readonly kind: 'altered' }
  | { readonly kind: 'unchained' };

/**
 * Each event's hash covers the hash before it, so a store that checks it has missed nothing and was shown one
 * history.
 */
export function chainStep(held: BookCursor, event: FollowedEvent): ChainStep {
  const { hash, row: _, ...said } = event;
  if (said.position < held.position) return { kind: 'known' };
  if (canonicalHash({ ...said }) !== hash) return { kind: 'altered' };
  if (said.position === held.position) return { kind: hash === held.hash ? 'known' : 'unchained' };
  if (said.position > held.position + 1) return { kind: 'gap' };
  return said.prev_hash === held.hash
    ? { kind: 'next', cursor: { position: said.position, hash } }
    : { kind: 'unchained' };
}
