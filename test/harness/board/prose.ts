import fc from 'fast-check';

/** Words of sentences. None looks like the end of a host name if it follows a dot and a space. */
const word = fc.constantFrom(
  ...'the call was charged twice and after it came an error with status 502, so I asked again with same payment'.split(
    ' ',
  ),
  ...[
    'latency',
    'v1.2.3',
    '0.002',
    '$4',
    '50%',
    'e.g.',
    'i.e.',
    "didn't",
    '(slow)',
    'gpt-4.1-mini',
    '10:30',
    '3/4',
    'naïve',
  ],
  ...[
    'größer',
    'медленно',
    '很快',
    'テスト',
    'سريع',
    '👍🏽',
    '👩‍💻',
    'A/B',
    'a+b=c',
    '"quoted"',
    '<b>bold</b>',
    '&',
    'task_01k9z',
  ],
);
export const prose = fc.array(word, { minLength: 1, maxLength: 40 }).map(words => `${words.join(' ')}.`);
