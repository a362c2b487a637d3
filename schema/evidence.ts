import { isJsonObject, type JsonObject } from './canonical-json.ts';

/** What a book row rests on: the specification's eight values, and the only ways from one to another. */
export const evidences = [
  'collected',
  'foreign_ingest',
  'RECORDED_BY_SETTLE',
  'ARRIVAL_UNVERIFIED',
  'inflow_claimed',
  'UNVERIFIED',
  'policy_blocked',
  'a2a_escrow',
] as const;
export type Evidence = (typeof evidences)[number];

/**
 * Spent elsewhere and recorded here: such a row counts by its rail, and never against what its book allows. Nothing of the
 * service could have held it back.
 */
export function isSpentElsewhere(evidence: Evidence): boolean {
  return evidence === 'foreign_ingest';
}

/** Rows of these rest on no receipt of ours. */
const withoutReceipt: readonly Evidence[] = ['policy_blocked', 'inflow_claimed', 'a2a_escrow'];
/** Those for which a receipt was issued, whether it was paid or a key stood in. */
export const withReceipt = evidences.filter(evidence => !withoutReceipt.includes(evidence));

const transitions: Partial<Record<Evidence, readonly Evidence[]>> = {
  RECORDED_BY_SETTLE: ['collected', 'ARRIVAL_UNVERIFIED'],
};

export function mayBecome(from: Evidence, to: Evidence): boolean {
  return transitions[from]?.includes(to) ?? false;
}

export const arrivalStatuses = ['pending', 'confirmed', 'unverified'] as const;
export type ArrivalStatus = (typeof arrivalStatuses)[number];

/**
 * What happened on a book. All but a birth consume a position and no seq. `blocked` counts calls that were refused like
 * the row's own, and without a row of their own; `would_block` says that a policy in shadow mode would have refused the call
 * of the row; `approval` says that the refused call of the row may be approved, or what was answered to that; `alert` is of
 * the row by which something was reached; `dispute` says what was claimed of the row, and decided;
 * `escrow` is a phase of the ledger escrow over the row.
 */
export type BookEventKind = RowEventKind | TermsEventKind | NoticeKind | 'alerts_changed';
export type RowEventKind =
  | 'born'
  | 'transition'
  | 'replay'
  | 'correction'
  | 'blocked'
  | 'would_block'
  | 'alert'
  | 'approval'
  | 'dispute'
  | 'escrow';
/** What another agent did that concerns the owner of the book, written only where its webhook is told of that: of no row either. */
export type NoticeKind = 'bid' | 'escrow_offer';
/** What its owner allows was changed: of no row, so such an event has neither seq nor task. */
export type TermsEventKind = 'policy_changed' | 'budget_changed';

/**
 * The amount that a row had been counted with, in digits, where the body of a `transition` takes it away, because its transfer
 * was not found on its chain; null of any other event.
 */
export function givenUpAmount({ amount, born }: JsonObject): string | null {
  const had = isJsonObject(born) ? born.amount : null;
  return amount === null && typeof had === 'string' ? had : null;
}
