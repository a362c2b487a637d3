import type { WordOf, Words } from './words.ts';

/** The codes under which the issuer refuses a call for its book's sake. */
export const refusalCodes = {
  graph: 'RefusalCode',
  description: 'Why the issuer refused a call, as it is signed.',
  meanings: {
    policy_blocked: 'A policy of the book.',
    budget_exhausted: 'The budget of the book.',
    approval_ttl_expired: 'The book requires a fresh approval of such a call.',
  },
} as const satisfies Words;
export type RefusalCode = WordOf<typeof refusalCodes>;
