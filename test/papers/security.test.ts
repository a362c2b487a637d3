import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../harness/root.ts';

const text = readFileSync(join(ROOT, '.github', 'SECURITY.md'), 'utf8');

it('every promise of SECURITY.md names the tests that show it', () => {
  const promises = text.split('\n').filter(line => line.startsWith('| ') && !line.startsWith('| promise'));
  expect(promises.length).toBeGreaterThan(10);
  for (const promise of promises) {
    const shown = [...promise.matchAll(/`(test\/[^`]+)`/g)].map(match => match[1] ?? '');
    expect(shown, promise).not.toEqual([]);
    expect(shown.filter(file => !existsSync(join(ROOT, file)))).toEqual([]);
  }
});
