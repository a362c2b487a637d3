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

export const rowEvents = {
  graph: 'RowEvent',
  description: 'What a row records that is no call that was served.',
  meanings: { policy_blocked: 'The book refused a call.' },
} as const satisfies Words;

export const rowRecorders = {
  graph: 'RecordedBy',
  description: 'Who recorded a row whose money had not been seen.',
  meanings: { settle: 'The party that settled the payment.' },
} as const satisfies Words;
