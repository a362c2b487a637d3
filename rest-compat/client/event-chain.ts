import { canonicalHash, type JsonObject } from '../../schema/canonical-json.ts';

/** Something that happened on a book, in the words over which `hash` is. */
export interface FollowedEvent {
  readonly agent_id: number;
  /** Its place among the events of the book: from 1, without a gap. */
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
  /** What was selected of the row as it stood when the event was read; `hash` does not cover it. */
  readonly row: JsonObject | null;
}

/** How far a store has come in a book: the last event that it holds. */
export interface BookCursor {
  readonly position: number;
  readonly hash: string;
}

/** Of a book of which nothing is held yet. */
export const BOOK_START: BookCursor = { position: 0, hash: '' };

/** What an event is to whoever holds all events up to a cursor. */
export type ChainStep =
  | { readonly kind: 'next'; readonly cursor: BookCursor }
  /** Held already. */
  | { readonly kind: 'known' }
  /** One between them did not come. */
  | { readonly kind: 'gap' }
  /** `altered`: its hash is not that of what it says. `unchained`: it is not over the event that is held. */
  | { readonly kind: 'altered' }
  | { readonly kind: 'unchained' };

/** Each event's hash is over the hash before it: whoever checks that has missed nothing and was shown no other history. */
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
