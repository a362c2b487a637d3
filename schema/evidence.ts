import { isJsonObject, type JsonObject } from './canonical-json.ts';
import { type WordOf, type Words, wordList } from './words.ts';

/** What a book row rests on: the specification's eight values, and the only ways from one to another. */
export const evidences = {
  graph: 'Evidence',
  description: 'What a row rests on.',
  meanings: {
    collected: 'A finished paid call, its payment bound to it.',
    foreign_ingest: 'Spend that was executed elsewhere and is recorded here.',
    RECORDED_BY_SETTLE: 'Accepted at settle, and its arrival not seen yet.',
    ARRIVAL_UNVERIFIED: 'No arrival was seen by the cutoff: its amount is left out, and in no sum.',
    inflow_claimed: 'A signed bucket and allocation, without a payment.',
    UNVERIFIED: 'Payer, payment or amount cannot be proven; never to be taken for a payment of nothing.',
    policy_blocked: 'Refused by the book; nothing was charged.',
    a2a_escrow: 'A phase of an escrow between agents.',
  },
} as const satisfies Words;
export type Evidence = WordOf<typeof evidences>;

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
export const withReceipt = wordList(evidences).filter(evidence => !withoutReceipt.includes(evidence));

const transitions: Partial<Record<Evidence, readonly Evidence[]>> = {
  RECORDED_BY_SETTLE: ['collected', 'ARRIVAL_UNVERIFIED'],
};

export function mayBecome(from: Evidence, to: Evidence): boolean {
  return transitions[from]?.includes(to) ?? false;
}

export const arrivalStatuses = {
  graph: 'ArrivalStatus',
  description: 'Whether the money of a row was seen.',
  meanings: {
    pending: 'Not yet.',
    confirmed: 'It was.',
    unverified: 'It was not, by the cutoff.',
  },
} as const satisfies Words;
export type ArrivalStatus = WordOf<typeof arrivalStatuses>;

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
