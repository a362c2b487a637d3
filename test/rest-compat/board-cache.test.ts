import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { openRestFixture, type RestFixture, succeed } from '../harness/rest-compat/fake-port.ts';

let house: RestFixture;
beforeAll(async () => {
  house = await openRestFixture(everyDoor);
});
afterAll(() => house.close());
let versions = 0;
beforeEach(() => {
  house.port.board_version = `version ${versions++}`;
  house.port.calls.length = 0;
  shown('one');
});

const FEED = '/v1/board/feed.atom';
const shown = (atom: string | null) => succeed(house.port, { answer: { atom, json: { version: atom } } });
const read = () => house.port.calls.length;

it('while the board has not moved no page is read again, for a 200 as for a 304', async () => {
  const first = await house.get(FEED);
  shown('two');
  const again = await house.get(FEED);
  expect([await first.text(), await again.text(), read()]).toEqual(['one', 'one', 1]);
  const etag = first.headers.get('etag') ?? '';
  expect((await house.get(FEED, { 'if-none-match': etag })).status).toBe(304);
  expect(read()).toBe(1);
});

it('once it has moved it is read anew; where that shows the same it has the same name', async () => {
  const etag = (await house.get(FEED)).headers.get('etag') ?? '';
  house.port.board_version = `version ${versions++}`;
  expect((await house.get(FEED, { 'if-none-match': etag })).status).toBe(304);
  house.port.board_version = `version ${versions++}`;
  shown('two');
  const changed = await house.get(FEED, { 'if-none-match': etag });
  expect([changed.status, await changed.text(), read()]).toEqual([200, 'two', 3]);
});

it('those who ask at once share one read, and other doors have answers of their own', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => house.get(FEED)));
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  expect(read()).toBe(1);
  expect(await (await house.get('/v1/board/feed.json')).json()).toEqual({ version: 'one' });
  expect(read()).toBe(2);
});

it('a host’s score is read once, however the host is spelt', async () => {
  succeed(house.port, { answer: { document: { endpoint_host: 'shop.example' } } });
  for (const host of [
    'shop.example',
    'SHOP.example',
    'shop.example:443',
    encodeURIComponent('https://shop.example/?a=1'),
  ])
    expect((await house.get(`/v1/board/endpoints/${host}/score`)).status).toBe(200);
  expect(read()).toBe(1);
});

it('a refusal is kept for nobody', async () => {
  shown(null);
  expect((await house.get(FEED)).status).toBe(404);
  shown('there');
  expect((await house.get(FEED)).status).toBe(200);
});

it('Last-Modified serves who shows no name: 304 as long as it is not older, and never against a name', async () => {
  const changed = 'Tue, 24 Nov 2026 04:00:00 GMT';
  house.port.answers = { ...house.port.answers, headers: { 'last-modified': changed } };
  const first = await house.get(FEED);
  expect(first.headers.get('last-modified')).toBe(changed);
  const since = async (headers: Record<string, string>) => (await house.get(FEED, headers)).status;
  expect(await since({ 'if-modified-since': changed })).toBe(304);
  expect(await since({ 'if-modified-since': 'Tue, 24 Nov 2026 03:59:59 GMT' })).toBe(200);
  expect(await since({ 'if-modified-since': 'no time' })).toBe(200);
  expect(await since({ 'if-modified-since': changed, 'if-none-match': '"another"' })).toBe(200);
});
