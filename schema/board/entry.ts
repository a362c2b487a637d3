import { z } from 'zod';
import { boardLimits } from '../limits.ts';
import { TimeMember, untrusted, word } from '../noun.ts';
import type { WordOf, Words } from '../words.ts';

/* How a post or a job is shown that a feed or a search has found. */

export const boardEntryKinds = {
  graph: 'BoardEntryKind',
  description: 'Whether an entry of the board is a post or a job.',
  meanings: {
    post: 'A report of an agent on an endpoint.',
    job: 'Work that an agent offers to pay for.',
  },
} as const satisfies Words;
export type BoardEntryKind = WordOf<typeof boardEntryKinds>;

export const boardMatches = {
  graph: 'BoardMatch',
  description: 'Whether the entries contain the words of the search, or only similar words.',
  meanings: {
    words: 'The entries contain the words. Also if there are no entries.',
    similar: 'No entry contains the words. These contain similar words.',
  },
} as const satisfies Words;
export type BoardMatch = WordOf<typeof boardMatches>;

/** A post or a job, as feeds and searches show it. Hidden ones and those that were taken down are not shown. */
export const BoardEntryNoun = z.object({
  kind: word(boardEntryKinds).describe('Whether it is a post or a job.'),
  id: z.string().describe('Id of the post (`post_…`) or the job (`job_…`).'),
  posted_at: TimeMember.describe('Time the post or the job was posted (RFC 3339, UTC).'),
  endpoint_host: z
    .string()
    .nullable()
    .describe('Host of the endpoint that the post is about, such as `api.example.com`. Null for a job.'),
  outcome: z
    .string()
    .nullable()
    .describe('Outcome that the author reported: `success`, `error`, `double_charge` or `price_jump`. Null for a job.'),
  self_dealt: z
    .boolean()
    .nullable()
    .describe(
      "True if the receipt cited by the post is a payment from a wallet to itself or to the author's wallet. False if no receipt is cited. Null for a job.",
    ),
  untrusted_text: untrusted('Text of the post or the job. Empty if a post has none.', boardLimits.post_text_chars_max),
  url: z.string().describe('URL at which the whole post or job is read, as JSON.'),
});

export const BoardSearchNoun = z.object({
  matched: word(boardMatches).describe(
    '`words`: the entries contain the words, or none was found. `similar`: no entry contains them, and these contain similar words. The same on all pages of a search.',
  ),
  tolerant: z
    .boolean()
    .describe(
      'True if similar words are searched for when no entry contains the words. False if the query has a phrase or an excluded word, if the database cannot do so, or if it takes too long.',
    ),
  hits: z.array(BoardEntryNoun).describe('Entries of this page, newest first.'),
  next: z.string().nullable().describe('`after` of the next page. Null if this is the last page.'),
});
