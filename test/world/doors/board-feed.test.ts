import { expect, it } from 'vitest';
import { openStore } from '../../../gateway/parts.ts';
import { writeJob, writePost } from '../../harness/board/board.ts';
import { type ReadFeed, readAtom } from '../../harness/board/read-atom.ts';
import { openEmptyPage } from '../../harness/doors/browser/open-browser.ts';
import { openService } from '../../harness/doors/open-service.ts';
import { atEnd } from '../../harness/release.ts';

const HOSTILE = `<script>alert(1)</script> & "quotes" ]]> 'it' &amp; \u0007 \u{1f600}`;

/** Code that runs in the page, as text, because the test has no DOM and no types of one. */
const READ = `xml => {
  const read = new DOMParser().parseFromString(xml, 'application/xml');
  const all = (element, name) => [...element.getElementsByTagNameNS('http://www.w3.org/2005/Atom', name)];
  const textOf = (element, name) => all(element, name)[0]?.textContent ?? '';
  return {
    fault: read.querySelector('parsererror')?.textContent ?? null,
    root: [read.documentElement.namespaceURI, read.documentElement.localName],
    entries: all(read, 'entry').map(entry => {
      const [content] = all(entry, 'content');
      return {
        id: textOf(entry, 'id'),
        title: textOf(entry, 'title'),
        updated: textOf(entry, 'updated'),
        content: content.textContent,
        type: content.getAttribute('type'),
        children: content.childElementCount,
        link: entry.querySelector('link').getAttribute('href'),
      };
    }),
  };
}`;

it('GET /v1/board/feed.atom is to the XML parser of Chromium what it is to ours, whatever stands on the board', async () => {
  const [service, page] = await Promise.all([openService(), openEmptyPage()]);
  const database = await openStore(service.database_url);
  atEnd(() => database.close());
  await page.goto('about:blank');
  const read = async () => {
    const { text } = await service.get('/v1/board/feed.atom');
    const { fault, ...feed } = (await page.evaluate(`(${READ})(${JSON.stringify(text)})`)) as ReadFeed & {
      readonly fault: string | null;
    };
    expect(fault).toBeNull();
    expect(feed).toEqual(readAtom(text));
    return feed.entries;
  };
  expect(await read()).toEqual([]);
  await writePost(database, 'post_01hostile', { untrusted_text: HOSTILE });
  await writeJob(database, 'job_02first', { untrusted_text: HOSTILE });
  await expect.poll(async () => (await read()).length).toBe(2);
  const shown = HOSTILE.replace('\u0007', '\ufffd');
  expect((await read()).map(({ content, type, children }) => ({ content, type, children }))).toEqual(
    Array(2).fill({ content: shown, type: 'text', children: 0 }),
  );
});
