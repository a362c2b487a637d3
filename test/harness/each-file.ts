import { flushCompileCache } from 'node:module';
import { relative } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { mark } from '../cost/marks.ts';
import { releaseAll } from './release.ts';
import { ROOT } from './root.ts';

const file = relative(ROOT, expect.getState().testPath ?? '');

mark('file begins', file);
beforeAll(() => {
  // Saves the compile cache after loading, because a worker is killed at its end and could not save it then.
  flushCompileCache();
  mark('tests begin', file);
});
afterAll(async () => {
  await releaseAll();
  mark('file ends', file);
});
