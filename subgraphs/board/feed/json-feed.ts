import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { BoardEntry } from '../entry/entry.type.ts';
import { FEED_TITLE, jsonUrl, tagOf, titleOf } from './words.ts';

/** The feed by https://www.jsonfeed.org/version/1.1/. Texts are `content_text`, which is shown as it is. */
export function jsonFeed(entries: readonly BoardEntry[], base_url: string): JsonObject {
  return {
    version: 'https://jsonfeed.org/version/1.1',
    title: FEED_TITLE,
    home_page_url: base_url,
    feed_url: jsonUrl(base_url),
    items: entries.map(entry => ({
      id: tagOf(base_url, entry.id),
      url: entry.url,
      title: titleOf(entry),
      content_text: entry.untrustedText,
      date_published: entry.postedAt.toISOString(),
      tags: [entry.kind, ...(entry.outcome === null ? [] : [entry.outcome])],
    })),
  };
}
