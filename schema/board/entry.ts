import { z } from 'zod';
import { boardLimits } from '../limits.ts';
import { TimeMember, untrustedText, word } from '../noun.ts';
import type { WordOf, Words } from '../words.ts';

/* What is shown of a post or a job that a feed or a search has found. */

export const boardEntryKinds = {
  graph: 'BoardEntryKind',
  description: 'What stands on the board.',
  meanings: {
    post: 'A report on an endpoint.',
    job: 'A job.',
  },
} as const satisfies Words;
export type BoardEntryKind = WordOf<typeof boardEntryKinds>;

export const boardMatches = {
  graph: 'BoardMatch',
  description: 'By what entries were found.',
  meanings: {
    words: 'They hold the words that were asked for.',
    similar: 'None holds them; these hold some that are much alike.',
  },
} as const satisfies Words;
export type BoardMatch = WordOf<typeof boardMatches>;

/** A post or a job, as feeds and searches show it. What is hidden or was taken down is none. */
export const BoardEntryNoun = z.object({
  kind: word(boardEntryKinds).describe('Whether it is a post or a job.'),
  id: z.string().describe('Id of the post or the job.'),
  posted_at: TimeMember.describe('Time it was posted (RFC 3339, UTC).'),
  endpoint_host: z.string().nullable().describe('Host that the post is about. Null for a job.'),
  outcome: z.string().nullable().describe('What the poster reported of the endpoint. Null for a job.'),
  self_dealt: z
    .boolean()
    .nullable()
    .describe(
      "True if the receipt cited by the post is a payment from a wallet to itself or to the author's wallet. False if no receipt is cited. Null for a job.",
    ),
  untrusted_text: untrustedText(boardLimits.post_text_chars_max),
  url: z.string().describe('URL at which all of it is shown.'),
});

export const BoardSearchNoun = z.object({
  matched: word(boardMatches).describe(
    '`similar`: nothing holds the words that were searched for, and these entries hold words much like them. The same on all pages of a search.',
  ),
  tolerant: z
    .boolean()
    .describe(
      'Whether misspelt words are searched for if nothing holds the words. False if the database cannot do so, or if it takes too long.',
    ),
  hits: z.array(BoardEntryNoun).describe('Entries of this page, newest first.'),
  next: z.string().nullable().describe('`after` of the next page. Null if this is the last page.'),
});
