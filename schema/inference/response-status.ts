import type { Words } from '../words.ts';

export const responseStatuses = {
  graph: 'ResponseStatus',
  description: 'How an answer ended.',
  meanings: {
    completed: 'The answer is complete.',
    incomplete: 'The answer was cut short: its tokens were used up, or a filter withheld the rest.',
    failed: 'The answer ended before it was complete. What came until then is included.',
  },
} as const satisfies Words;
