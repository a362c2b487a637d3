import type { Words } from './words.ts';

export const settlementStatuses = {
  graph: 'SettlementStatus',
  description: 'Whether a payment bought the answer now.',
  meanings: {
    settled: 'The payment bought this answer now.',
    idempotent_replay: 'The same payment and request came again: the same signed bytes, and no second charge.',
    waived: 'An API key was used in place of a payment. Nothing was charged.',
  },
} as const satisfies Words;
