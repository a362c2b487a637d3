import { defineConfig } from 'vitest/config';
import suite from '../../../../vitest.config.ts';

/** The configuration of the suite, except that it runs one file only. */
export default defineConfig({
  ...suite,
  test: { ...suite.test, include: ['test/harness/development/cut-off/endless.ts'] },
});
