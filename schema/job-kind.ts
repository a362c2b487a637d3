import type { Words } from './words.ts';

/** Kinds of paid work in the specification. */
export const jobKindWords = {
  graph: 'JobKind',
  description: 'Kind of work that was paid for.',
  meanings: {
    completions: 'An answer of a model.',
    scrape: 'Collection of data, such as from web pages.',
    review: 'Review of a piece of work.',
    swap: 'An exchange of assets.',
    research: 'Research on a question.',
    acp_job: 'A job of the Agent Commerce Protocol.',
    router_broadcast: 'A generation that a third-party router reported.',
    other: 'Any other work.',
  },
} as const satisfies Words;
