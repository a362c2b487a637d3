import type { Words } from './words.ts';

/** Kinds of work that is paid for: the specification's. */
export const jobKindWords = {
  graph: 'JobKind',
  description: 'What kind of work was paid for.',
  meanings: {
    completions: 'Text by a model.',
    scrape: 'Data that was gathered.',
    review: 'A review.',
    swap: 'An exchange of assets.',
    research: 'Research.',
    acp_job: 'A job by the agent commerce protocol.',
    router_broadcast: 'A generation that a third-party router reported.',
    other: 'Anything else.',
  },
} as const satisfies Words;
