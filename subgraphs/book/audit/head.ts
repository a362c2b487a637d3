import type { AtomicAmount } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { Window } from '../../../schema/clock-window.ts';
import type { Counters } from '../ledger/counters.ts';
import { type BookTerms, termsHash } from '../ledger/terms.ts';
import { type Audit, type AuditState, damageFound, faultOr, type IntentCounts, sameJson } from './audit.ts';

/** The stored head of a book, with the values that are compared after its last event. */
export interface StoredBook extends BookTerms {
  readonly agent_id: number;
  readonly seq: number;
  readonly position: number;
  readonly row_hash: string;
  readonly event_hash: string;
  readonly spent_atomic: AtomicAmount;
  readonly by_rail: JsonObject;
  readonly hour_start: Date | null;
  readonly hour_atomic: AtomicAmount;
  readonly day_start: Date | null;
  readonly day_atomic: AtomicAmount;
  readonly reserved_atomic: AtomicAmount;
  /** Null on books that are older than this column. */
  readonly terms_hash: string | null;
  readonly damage: JsonObject | null;
  /** The highest seq of any row. */
  readonly row_seq_max: number;
  /** Amount held by open payments. */
  readonly held_atomic: AtomicAmount;
  readonly intents: ReadonlyMap<string, IntentCounts>;
}

/** Compares the head with the last row and the last event, and its counters with the sums of the audit. */
export function auditHead(walked: AuditState, book: StoredBook): Audit {
  const { position, event_hash, seq, row_hash, counters } = walked;
  if (book.position > position) return damageFound('event_missing', position + 1);
  if (book.position < position || (event_hash ?? book.event_hash) !== book.event_hash)
    return damageFound('head_altered', 'event_hash');
  if (book.row_seq_max > book.seq) return damageFound('row_unborn', book.row_seq_max);
  if ((seq ?? book.seq) !== book.seq || (row_hash ?? book.row_hash) !== book.row_hash)
    return damageFound('head_altered', 'row_hash');
  if (faultOr('terms_altered', () => termsFault(book))) return damageFound('terms_altered', 'terms_hash');
  if (book.reserved_atomic !== book.held_atomic) return damageFound('reserved_altered', 'reserved_atomic');
  const column = counters && counterFault(counters, book);
  if (column) return damageFound('counter_altered', column);
  if (walked.intents && !sameCounts(walked.intents, book.intents)) return damageFound('intent_altered', 'intents');
  return { kind: 'sound', walked };
}

function termsFault(book: StoredBook): 'terms_altered' | null {
  return book.terms_hash === null || book.terms_hash === termsHash(book.agent_id, book) ? null : 'terms_altered';
}

function counterFault(counters: Counters, book: StoredBook): string | null {
  if (counters.spent_atomic !== book.spent_atomic) return 'spent_atomic';
  const by_rail = () => (sameJson(counters.by_rail as JsonObject, book.by_rail) ? null : 'counter_altered');
  if (faultOr('counter_altered', by_rail)) return 'by_rail';
  if (!isWindow(counters.hour, book.hour_start, book.hour_atomic)) return 'hour_atomic';
  return isWindow(counters.day, book.day_start, book.day_atomic) ? null : 'day_atomic';
}

/** The stored window must equal the counted one, or be a later one with the amount 0, because a window may begin without an amount. */
function isWindow(counted: Window, start: Date | null, atomic: AtomicAmount): boolean {
  const start_ms = start?.getTime() ?? null;
  if (start_ms === counted.start_ms) return atomic === counted.atomic;
  return start_ms !== null && start_ms > (counted.start_ms ?? 0) && atomic === 0n;
}

function sameCounts(counted: StoredBook['intents'], stored: StoredBook['intents']): boolean {
  if (counted.size !== stored.size) return false;
  return [...counted].every(([id, counts]) => {
    const found = stored.get(id);
    return found?.collected_count === counts.collected_count && found.blocked_count === counts.blocked_count;
  });
}
