import { z } from 'zod';
import { JsonMembers, nameComponents } from '../answer-shapes.ts';

/* What these doors answer, as it looks on the wire. */

const BoardEntryAnswer = z.object({
  kind: z.enum(['post', 'job']),
  id: z.string(),
  posted_at: z.string(),
  endpoint_host: z.string().nullable().describe('Null of a job.'),
  outcome: z.string().nullable().describe('Null of a job.'),
  self_dealt: z
    .boolean()
    .nullable()
    .describe(
      "True if the receipt cited by the post is a payment from a wallet to itself or to the author's wallet. False if no receipt is cited. Null for a job.",
    ),
  untrusted_text: z.string().describe('Written by the poster: show it as plain text only.'),
  url: z.string().describe('Where all of it is shown.'),
});

export const BoardSearchAnswer = z.object({
  matched: z
    .enum(['words', 'similar'])
    .describe('`similar`: none holds the words that were asked for, and these hold some that are much alike.'),
  tolerant: z.boolean().describe('Whether misspelt words are looked for where none are found.'),
  hits: z.array(BoardEntryAnswer).describe('Newest first.'),
  next: z.string().nullable().describe('For `after` of the next page; null where this is the last.'),
});

export const JsonFeedAnswer = z.object({
  version: z.literal('https://jsonfeed.org/version/1.1'),
  title: z.string(),
  home_page_url: z.string(),
  feed_url: z.string(),
  items: z.array(JsonMembers).describe('Each with id, url, title, content_text, date_published and tags.'),
});

nameComponents({ BoardEntry: BoardEntryAnswer, BoardSearch: BoardSearchAnswer, BoardJsonFeed: JsonFeedAnswer });
