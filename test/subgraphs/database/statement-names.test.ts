import { expect, it } from 'vitest';
import { read, sources } from '../../harness/source-tree.ts';

const NAMED = /\bname: (['`])((?:(?!\1).)+)\1,\s*text\b/g;

it('each prepared statement has a name of its own: a connection that met another of that name refuses it', () => {
  const places = new Map<string, string[]>();
  for (const file of sources.filter(source => !source.startsWith('test/')))
    for (const [, , name = ''] of read(file).matchAll(NAMED)) places.set(name, [...(places.get(name) ?? []), file]);
  expect(places.size).toBeGreaterThan(50);
  expect([...places].filter(([, files]) => files.length > 1)).toEqual([]);
});
