import { defineConfig } from 'vitest/config';
import suite from '../../../../vitest.config.ts';

/** The suite as it is, but for what it runs. */
export default defineConfig({
  ...suite,
  test: { ...suite.test, include: ['test/harness/development/cut-off/endless.ts'] },
});
