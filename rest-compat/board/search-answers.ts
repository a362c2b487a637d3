import { z } from 'zod';
import { BoardEntryNoun, BoardSearchNoun } from '../../schema/board/entry.ts';
import { JsonMembers, nameComponents } from '../answer-shapes.ts';

/* What the feed answers as JSON, beside the nouns of entries and searches. */

export const JsonFeedAnswer = z.object({
  version: z.literal('https://jsonfeed.org/version/1.1'),
  title: z.string(),
  home_page_url: z.string(),
  feed_url: z.string(),
  items: z.array(JsonMembers).describe('Each with id, url, title, content_text, date_published and tags.'),
});

nameComponents({ BoardEntry: BoardEntryNoun, BoardSearch: BoardSearchNoun, BoardJsonFeed: JsonFeedAnswer });
