import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { constantPage } from '../../rest-compat/constant-page.ts';
import type { PageDoor, RestLayer } from '../../rest-compat/door.ts';

const door = {} as PageDoor;

it('keeps a long page as bytes, once for each coding, so that nobody pays for its encoding again', async () => {
  const house = { port: {} } as RestLayer;
  const text = JSON.stringify({ text: 'ä'.repeat(100_000) });
  let made = 0;
  const page = () => constantPage(door, house, async () => ({ status: 200, headers: {}, body: text, made: ++made }));
  const [first, second] = [await page(), await page()];
  expect([made, second]).toEqual([1, first]);
  expect(first.body).toBe(text);
  expect(first.compressed_forms?.plain.toString()).toBe(text);
  expect(second.compressed_forms?.plain).toBe(first.compressed_forms?.plain);
  for (const [coding, unpacked] of [
    ['gzip', gunzipSync],
    ['br', brotliDecompressSync],
  ] as const) {
    const packed = await first.compressed_forms?.in(coding);
    expect(unpacked(packed ?? '').toString()).toBe(text);
    expect(await second.compressed_forms?.in(coding)).toBe(packed);
  }
});

it('leaves a short page as it is', async () => {
  const house = { port: {} } as RestLayer;
  const page = await constantPage(door, house, async () => ({ status: 200, headers: {}, body: 'short' }));
  expect([page.body, page.compressed_forms]).toEqual(['short', undefined]);
});

it('is made once for all that request it at the same time, and again after it could not be made', async () => {
  const house = { port: {} } as RestLayer;
  let made = 0;
  const page = () =>
    constantPage(door, house, async () => {
      if (++made === 1) throw new Error('not now');
      return { status: 200, headers: {}, body: 'made' };
    });
  await expect(Promise.all([page(), page()])).rejects.toThrow('not now');
  expect(made).toBe(1);
  expect(await Promise.all([page(), page(), page()])).toMatchObject([
    { body: 'made' },
    { body: 'made' },
    { body: 'made' },
  ]);
  expect(made).toBe(2);
});
