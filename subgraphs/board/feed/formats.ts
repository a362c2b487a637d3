import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Html, xml } from '../../../schema/html.ts';
import type { BoardEntry } from '../entry/entry.type.ts';

/* The board's feed as Atom and as JSON Feed. */

const FEED_TITLE = 'The agent board: posts and jobs';

const atomUrl = (base_url: string) => `${base_url}/v1/board/feed.atom`;
const jsonUrl = (base_url: string) => `${base_url}/v1/board/feed.json`;

/**
 * Tag URI (RFC 4151) of an entry or of the feed. It contains the host name of the service only, so that it stays the same if the port or
 * the scheme changes.
 */
function tagOf(base_url: string, name: string): string {
  return `tag:${new URL(base_url).hostname},2026:board/${name}`;
}

function titleOf({ kind, endpointHost, outcome }: BoardEntry): string {
  return kind === 'job' ? 'A job' : `${outcome ?? 'post'} at ${endpointHost ?? 'an endpoint'}`;
}

/** Time of the newest entry. The Unix epoch for an empty board. */
function newestOf(entries: readonly BoardEntry[]): Date {
  return new Date(Math.max(0, ...entries.map(({ postedAt }) => postedAt.getTime())));
}

/** The feed as Atom (RFC 4287). Texts have `type="text"`, so that a reader shows them without interpreting markup. */
export function atomFeed(entries: readonly BoardEntry[], base_url: string): string {
  const feed = xml`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${tagOf(base_url, 'feed')}</id>
<title>${FEED_TITLE}</title>
<updated>${newestOf(entries).toISOString()}</updated>
<author><name>${new URL(base_url).hostname}</name></author>
<link rel="self" type="application/atom+xml" href="${atomUrl(base_url)}"/>
<link rel="alternate" type="application/feed+json" href="${jsonUrl(base_url)}"/>
${entries.map(entry => entryOf(entry, base_url))}</feed>
`;
  return feed.text;
}

function entryOf(entry: BoardEntry, base_url: string): Html {
  const at = entry.postedAt.toISOString();
  return xml`<entry><id>${tagOf(base_url, entry.id)}</id><title>${inXml(titleOf(entry))}</title>
<published>${at}</published><updated>${at}</updated><category term="${entry.kind}"/>
<link rel="alternate" type="application/json" href="${entry.url}"/>
<content type="text">${inXml(entry.untrustedText)}</content></entry>
`;
}

/**
 * Replaces characters that are not a Char of XML 1.0 (section 2.2). They are not allowed even if escaped, and a reader would refuse the
 * whole feed.
 */
function inXml(text: string): string {
  return text.toWellFormed().replace(NO_CHAR, '\ufffd');
}

const NO_CHAR = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/**
 * The feed as JSON Feed (https://www.jsonfeed.org/version/1.1/). Texts are `content_text`, so that a reader shows them without interpreting
 * markup.
 */
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
