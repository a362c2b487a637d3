import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { openStore } from '../../../gateway/parts.ts';
import { writeJob, writePost } from '../../harness/board/board.ts';
import { openEmptyPage } from '../../harness/doors/browser/open-browser.ts';
import { type Service, sharedService } from '../../harness/doors/open-service.ts';
import { atEnd } from '../../harness/release.ts';

/* A browser shows any text that the board accepts, or accepted under an earlier rule, and runs no part of it. */

const payloads = [
  '<script>globalThis.pwned = 1</script>',
  '<img src=x onerror="globalThis.pwned = 1">',
  '<svg onload="globalThis.pwned = 1"></svg>',
  ']]><script xmlns="http://www.w3.org/1999/xhtml">globalThis.pwned = 1</script>',
  '"><iframe srcdoc="<script>top.pwned = 1</script>"></iframe>',
  '<?xml-stylesheet href="data:text/xsl,x"?><x:script xmlns:x="http://www.w3.org/1999/xhtml">globalThis.pwned = 1</x:script>',
];

let service: Service;
let page: Page;
beforeAll(async () => {
  [service, page] = await Promise.all([sharedService(), openEmptyPage()]);
  const database = await openStore(service.database_url);
  atEnd(() => database.close());
  for (const [at, text] of payloads.entries()) {
    await writePost(database, `post_0000000000000000000000000${at}`, { untrusted_text: text });
    await writeJob(database, `job_0000000000000000000000000${at}`, { untrusted_text: text });
  }
});

it.each([
  '/v1/board/posts',
  '/v1/board/posts/post_00000000000000000000000000',
  '/v1/board/jobs',
  '/v1/board/jobs/job_00000000000000000000000001',
  '/v1/board/search?q=pwned',
  '/v1/board/feed.json',
  '/v1/board/feed.atom',
])('GET %s is text to a browser that goes there', async path => {
  const asked: string[] = [];
  page.on('dialog', dialog => dialog.dismiss());
  page.on('request', request => asked.push(request.url()));
  await page.goto(service.url + path);
  const shown = (await page.evaluate('document.documentElement.textContent')) as string;
  expect(shown).toContain('pwned = 1');
  expect(await page.evaluate('[globalThis.pwned, document.querySelectorAll("img, svg, iframe").length]')).toEqual([
    undefined,
    0,
  ]);
  // No part of it was loaded either. Only the icon is left out, which a browser requests from every site.
  expect(asked.filter(url => !url.endsWith('/favicon.ico'))).toEqual([service.url + path]);
  page.removeAllListeners();
});
