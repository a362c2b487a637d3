import type { Words } from './words.ts';

export const settlementStatuses = {
  graph: 'SettlementStatus',
  description: 'How the response was paid for.',
  meanings: {
    settled: 'The payment of this request paid for this response.',
    idempotent_replay:
      'The payment or Idempotency-Key was used before. This is the earlier response or, if no whole answer was delivered, that of another run. Nothing more was charged.',
    waived: 'An API key was used in place of a payment. Nothing was charged.',
  },
} as const satisfies Words;
