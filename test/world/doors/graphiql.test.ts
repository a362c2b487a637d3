import { expect, it } from 'vitest';
import { openEmptyPage } from '../../harness/doors/browser/open-browser.ts';
import { openService } from '../../harness/doors/open-service.ts';

it('GET /graphql is GraphiQL in Chromium: it runs a query, and asks no other host for anything', async () => {
  // On a small machine Chromium's start can delay the chain until it times out. Nothing is bought here.
  const options = { meant: /the chain cannot be reached/ };
  const [service, page] = await Promise.all([openService({ INTROSPECTION: 'on' }, options), openEmptyPage()]);
  const asked: string[] = [];
  const faults: string[] = [];
  page.on('request', request => void asked.push(request.url()));
  page.on('pageerror', fault => void faults.push(String(fault)));
  page.on('console', message => void (message.type() === 'error' && faults.push(message.text())));
  await page.goto(`${service.url}/graphql`);
  await page.click('.graphiql-execute-button');
  await expect.poll(() => page.locator('.result-window').textContent()).toContain('svc/auto');
  const hosts = asked.filter(url => !/^(?:data|blob):/.test(url)).map(url => new URL(url).origin);
  expect([...new Set(hosts)]).toEqual([service.url]);
  expect(faults).toEqual([]);
  // On a phone the buttons must be below the query and cover no part of it.
  await page.setViewportSize({ width: 360, height: 740 });
  const boxOf = async (part: string) => {
    const box = await page.locator(`.graphiql-query-editor .graphiql-${part}`).boundingBox();
    return box ?? { y: Number.NaN, height: Number.NaN };
  };
  const editor = await boxOf('editor');
  expect((await boxOf('toolbar')).y).toBeGreaterThanOrEqual(editor.y + editor.height);
});
