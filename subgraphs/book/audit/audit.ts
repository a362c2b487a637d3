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

/**
 * State of an audit after a number of events. A member is null if the earlier part of the book was not read. The first value found is
 * then accepted.
 */
export interface AuditState {
  readonly position: number;
  readonly event_hash: string | null;
  readonly seq: number | null;
  readonly row_hash: string | null;
  /** Null unless the audit began with the first event. */
  readonly counters: Counters | null;
  /** Counts by intent id. Null unless the audit began with the first event, and for a book with too many intents. */
  readonly intents: ReadonlyMap<string, IntentCounts> | null;
}

export interface IntentCounts {
  readonly collected_count: number;
  readonly blocked_count: number;
}

/** Some events of a book in order, with the stored rows that they record or change, by seq. */
export interface AuditedPart {
  readonly events: readonly StoredEvent[];
  readonly rows: ReadonlyMap<number, StoredRow>;
  /** Disputes of these events, by id. */
  readonly disputes: ReadonlyMap<string, StoredDispute>;
}

export type Audit =
  | { readonly kind: 'sound'; readonly walked: AuditState }
  | ({ readonly kind: 'damaged' } & BookDamage);

/** State before the first event of a book. */
export const auditStart: AuditState = {
  position: 0,
  event_hash: '',
  seq: 0,
  row_hash: '',
  counters: { spent_atomic: atomicAmount(0n), by_rail: {}, hour: emptyWindow, day: emptyWindow },
  intents: new Map(),
};

/** State after this number of events, whose content was not read. */
export function auditStateAt(position: number): AuditState {
  const unknown = { event_hash: null, seq: null, row_hash: null, counters: null, intents: null };
  return position === 0 ? auditStart : { ...auditStart, ...unknown, position };
}

export const damageFound = (what: BookDamageKind, place: BookDamage['place']): Audit => ({
  kind: 'damaged',
  what,
  place,
});

/**
 * Audits the next events of a book and the rows that they record or change. It recomputes both hash chains, each row from its birth
 * and transitions, and the counters with the same function as the ledger.
 */
export function auditEvents(before: AuditState, part: AuditedPart): Audit {
  // A copy, because the same events may be audited again from the state before.
  const intents = new Map(before.intents);
  let walked = before;
  for (const event of part.events) {
    const fault = faultOr('event_altered', () => eventFault(walked, event));
    if (fault) return damageFound(fault, event.position);
    walked = { ...walked, position: event.position, event_hash: event.hash };
    const disputed = faultOr('dispute_altered', () =>
      event.kind === 'dispute' ? disputeFault(event, part.disputes) : null,
    );
    if (disputed) return damageFound(disputed, event.position);
    if (event.kind !== 'born' && event.kind !== 'transition') continue;
    const row = event.seq === null ? undefined : part.rows.get(event.seq);
    if (!row) return damageFound('row_missing', event.seq ?? `position ${event.position}`);
    if (event.kind === 'born') {
      const unsound = faultOr('row_altered', () => rowFault(walked, row, event));
      if (unsound) return damageFound(unsound, row.seq);
      walked = { ...walked, seq: row.seq, row_hash: row.row_hash };
    }
    const uncountable = faultOr('event_altered', () => {
      walked = { ...walked, counters: walked.counters && recount(walked.counters, intents, row, event) };
      return null;
    });
    if (uncountable) return damageFound(uncountable, event.position);
  }
  const kept = before.intents !== null && intents.size <= INTENTS_MAX ? intents : null;
  return { kind: 'sound', walked: { ...walked, intents: kept } };
}

/**
 * Reports a value that cannot be computed as altered, such as a number without a canonical form. An error would stop the audit before
 * it closes this book and checks the others.
 */
export function faultOr(altered: BookDamageKind, look: () => BookDamageKind | null): BookDamageKind | null {
  try {
    return look();
  } catch {
    return altered;
  }
}

/** The intent counts of a book with more intents are not audited, to limit memory. */
const INTENTS_MAX = 20_000;

function eventFault({ position, event_hash }: AuditState, { hash, at, ...facts }: StoredEvent): BookDamageKind | null {
  if (facts.position !== position + 1) return 'event_missing';
  if (event_hash !== null && facts.prev_hash !== event_hash) return 'event_unchained';
  return canonicalHash({ ...facts, at: at.toISOString() }) === hash ? null : 'event_altered';
}

function rowFault({ seq, row_hash }: AuditState, row: StoredRow, born: StoredEvent): BookDamageKind | null {
  if (seq !== null && row.seq !== seq + 1) return 'row_missing';
  if (row_hash !== null && row.prev_row_hash !== row_hash) return 'row_unchained';
  return auditRow(row, born.body);
}

/** Applies an event to the counters: a birth adds its amount, and a transition that removes the amount subtracts it. */
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
