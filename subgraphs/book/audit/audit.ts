import { type AtomicAmount, atomicAmount } from '../../../schema/amount.ts';
import { canonicalHash, canonicalJson, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { emptyWindow } from '../../../schema/clock-window.ts';
import type { Evidence } from '../../../schema/evidence.ts';
import type { EventRecord } from '../ledger/append.ts';
import { type Counters, tally } from '../ledger/counters.ts';
import type { BookDamage, BookDamageKind } from './damage.ts';
import { disputeFault, type StoredDispute } from './dispute.ts';
import { auditRow, type StoredRow } from './row.ts';

/** An event as it is stored. */
export type StoredEvent = Omit<EventRecord, 'at'> & { readonly at: Date };

/** How far a book has been computed again. Null: what came before is not known, and is taken as the first says. */
export interface Walked {
  readonly position: number;
  readonly event_hash: string | null;
  readonly seq: number | null;
  readonly row_hash: string | null;
  /** Known only of a walk that began with the first event. */
  readonly counters: Counters | null;
  /** The same; nor are they of a book that has more than are kept in mind. */
  readonly intents: ReadonlyMap<string, IntentCounts> | null;
}

export interface IntentCounts {
  readonly collected_count: number;
  readonly blocked_count: number;
}

/** Some events of a book in their order, and what stands of the rows that they are of. */
export interface AuditedPart {
  readonly events: readonly StoredEvent[];
  readonly rows: ReadonlyMap<number, StoredRow>;
  /** By their ids: those that these events tell of. */
  readonly disputes: ReadonlyMap<string, StoredDispute>;
}

export type Audit = { readonly kind: 'sound'; readonly walked: Walked } | ({ readonly kind: 'damaged' } & BookDamage);

/** Before a book's first event. */
export const unwalked: Walked = {
  position: 0,
  event_hash: '',
  seq: 0,
  row_hash: '',
  counters: { spent_atomic: atomicAmount(0n), by_rail: {}, hour: emptyWindow, day: emptyWindow },
  intents: new Map(),
};

/** In the midst of a book, of whose beginning nothing is known. */
export function walkedFrom(position: number): Walked {
  const unknown = { event_hash: null, seq: null, row_hash: null, counters: null, intents: null };
  return position === 0 ? unwalked : { ...unwalked, ...unknown, position };
}

export const damaged = (what: BookDamageKind, place: BookDamage['place']): Audit => ({ kind: 'damaged', what, place });

/**
 * Computes the next events of a book again, and the rows that are born or moved by them: both chains, each row by its
 * birth and its transitions, and the counters by the very function that the ledger counts with.
 */
export function auditEvents(before: Walked, part: AuditedPart): Audit {
  // Written to by this call alone: the same events may be audited again.
  const intents = new Map(before.intents);
  let walked = before;
  for (const event of part.events) {
    const fault = faultOr('event_altered', () => eventFault(walked, event));
    if (fault) return damaged(fault, event.position);
    walked = { ...walked, position: event.position, event_hash: event.hash };
    const disputed = faultOr('dispute_altered', () =>
      event.kind === 'dispute' ? disputeFault(event, part.disputes) : null,
    );
    if (disputed) return damaged(disputed, event.position);
    if (event.kind !== 'born' && event.kind !== 'transition') continue;
    const row = event.seq === null ? undefined : part.rows.get(event.seq);
    if (!row) return damaged('row_missing', event.seq ?? `position ${event.position}`);
    if (event.kind === 'born') {
      const unsound = faultOr('row_altered', () => rowFault(walked, row, event));
      if (unsound) return damaged(unsound, row.seq);
      walked = { ...walked, seq: row.seq, row_hash: row.row_hash };
    }
    const uncountable = faultOr('event_altered', () => {
      walked = { ...walked, counters: walked.counters && recount(walked.counters, intents, row, event) };
      return null;
    });
    if (uncountable) return damaged(uncountable, event.position);
  }
  const kept = before.intents !== null && intents.size <= INTENTS_MAX ? intents : null;
  return { kind: 'sound', walked: { ...walked, intents: kept } };
}

/**
 * What cannot so much as be computed is not what was written: a number that has no canonical form, or a member of another kind. It
 * must not keep the audit from closing this book and from going on to all others.
 */
export function faultOr(altered: BookDamageKind, look: () => BookDamageKind | null): BookDamageKind | null {
  try {
    return look();
  } catch {
    return altered;
  }
}

/** Of one book: more are not counted again. */
const INTENTS_MAX = 20_000;

function eventFault({ position, event_hash }: Walked, { hash, at, ...facts }: StoredEvent): BookDamageKind | null {
  if (facts.position !== position + 1) return 'event_missing';
  if (event_hash !== null && facts.prev_hash !== event_hash) return 'event_unchained';
  return canonicalHash({ ...facts, at: at.toISOString() }) === hash ? null : 'event_altered';
}

function rowFault({ seq, row_hash }: Walked, row: StoredRow, born: StoredEvent): BookDamageKind | null {
  if (seq !== null && row.seq !== seq + 1) return 'row_missing';
  if (row_hash !== null && row.prev_row_hash !== row_hash) return 'row_unchained';
  return auditRow(row, born.body);
}

/** What an event changes in the sums of its book: a birth counts, a transition may take that back or collect it. */
function recount(
  counters: Counters,
  intents: Map<string, IntentCounts>,
  row: StoredRow,
  { kind, body }: StoredEvent,
): Counters {
  const at_ms = row.collected_at.getTime();
  const { rail } = row;
  if (kind === 'born') {
    countIntent(intents, row.intent_id, Number(body.collected === true), Number(body.evidence === 'policy_blocked'));
    return tally(counters, { amount: amountOf(body.amount), rail, evidence: body.evidence as Evidence }, at_ms, 1);
  }
  const born = body.born as JsonObject;
  countIntent(intents, row.intent_id, Number(body.collected === true), 0);
  const gone = born.amount !== null && body.amount === null;
  const counted = { amount: amountOf(born.amount), rail, evidence: born.evidence as Evidence };
  return gone ? tally(counters, counted, at_ms, -1) : counters;
}

function amountOf(amount: Json | undefined): AtomicAmount | null {
  return typeof amount === 'string' ? atomicAmount(BigInt(amount)) : null;
}

function countIntent(intents: Map<string, IntentCounts>, id: string | null, collected: number, blocked: number): void {
  if (id === null) return;
  const { collected_count = 0, blocked_count = 0 } = intents.get(id) ?? {};
  intents.set(id, { collected_count: collected_count + collected, blocked_count: blocked_count + blocked });
}

export const sameJson = (a: Json, b: Json): boolean => canonicalJson(a) === canonicalJson(b);
