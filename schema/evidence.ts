import { type WordOf, type Words, wordList } from './words.ts';

/** Evidence of a row: the eight values of the specification, and the only transitions between them. */
export const evidences = {
  graph: 'Evidence',
  description: 'What a row of a book rests on, such as a collected payment or a refused call.',
  meanings: {
    collected: 'A finished paid call whose payment this service has seen on its chain.',
    foreign_ingest: 'Spend that was executed elsewhere and is recorded here.',
    RECORDED_BY_SETTLE: 'A payment that was accepted at settlement, and whose transfer has not been seen yet.',
    ARRIVAL_UNVERIFIED:
      'A payment whose transfer was not seen by the cutoff, which is at most one hour after its authorization expired. The row has no amount and counts in no sum.',
    inflow_claimed:
      'An inflow: a signed claim that an amount (allocation) is set aside for a purpose (bucket). It is no payment.',
    UNVERIFIED: 'A row whose payer, payment or amount cannot be proven. It does not mean that nothing was paid.',
    policy_blocked: 'A call that the book refused. Nothing was charged.',
    a2a_escrow: 'A step of an escrow between two agents, such as its opening. It is no payment.',
  },
} as const satisfies Words;
export type Evidence = WordOf<typeof evidences>;

/**
 * Spending elsewhere that is recorded here. It counts by its rail and toward no limit of the book, because this service could not
 * have prevented it.
 */
export function isSpentElsewhere(evidence: Evidence): boolean {
  return evidence === 'foreign_ingest';
}

/** Evidence of rows that have no receipt of this service. */
const withoutReceipt: readonly Evidence[] = ['policy_blocked', 'inflow_claimed', 'a2a_escrow'];
/** Evidence of rows with a receipt, whether they were paid or an API key was used. */
export const withReceipt = wordList(evidences).filter(evidence => !withoutReceipt.includes(evidence));

const transitions: Partial<Record<Evidence, readonly Evidence[]>> = {
  RECORDED_BY_SETTLE: ['collected', 'ARRIVAL_UNVERIFIED'],
};

export function mayBecome(from: Evidence, to: Evidence): boolean {
  return transitions[from]?.includes(to) ?? false;
}

export const arrivalStatuses = {
  graph: 'ArrivalStatus',
  description: 'Whether the transfer that pays a row was seen.',
  meanings: {
    pending: 'The transfer has not been seen yet.',
    confirmed: 'The transfer was seen on its chain.',
    unverified:
      'The transfer was not seen by the cutoff, at most one hour after the authorization of the payment expired, or it is no longer on its chain.',
  },
} as const satisfies Words;
export type ArrivalStatus = WordOf<typeof arrivalStatuses>;

export const rowEvents = {
  graph: 'RowEvent',
  description: 'What a row records, if not a served call.',
  meanings: { policy_blocked: 'A call that a policy or the budget of the book refused. Nothing was charged.' },
} as const satisfies Words;

export const rowRecorders = {
  graph: 'RecordedBy',
  description: 'What caused a row to be recorded before its transfer was seen.',
  meanings: { settle: 'The payment was accepted at settlement.' },
} as const satisfies Words;
