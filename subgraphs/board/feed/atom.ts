import { Html, html } from '../../../schema/html.ts';
import type { BoardEntry } from '../entry/entry.type.ts';
import { atomUrl, FEED_TITLE, jsonUrl, newestOf, tagOf, titleOf } from './words.ts';

/** The feed by RFC 4287. Texts are `type="text"`: a reader shows them as they are, and no markup of theirs counts. */
export function atomFeed(entries: readonly BoardEntry[], base_url: string): string {
  const feed = html`<?xml version="1.0" encoding="utf-8"?>
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
  return html`<entry><id>${tagOf(base_url, entry.id)}</id><title>${inXml(titleOf(entry))}</title>
<published>${at}</published><updated>${at}</updated><category term="${entry.kind}"/>
<link rel="alternate" type="application/json" href="${entry.url}"/>
<content type="text">${inXml(entry.untrustedText)}</content></entry>
`;
}

/** XML 1.0 section 2.2: what is no Char cannot stand there, escaped or not; a reader would refuse the whole feed. */
function inXml(text: string): string {
  return text.toWellFormed().replace(NO_CHAR, '\ufffd');
}

const NO_CHAR = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
