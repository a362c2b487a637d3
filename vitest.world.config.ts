import { defineConfig } from 'vitest/config';
import suite from './vitest.config.ts';

/** `npm run test:world`: as `npm test`, but what needs programs that npm does not bring, or takes minutes. */
export default defineConfig({
  ...suite,
  test: {
    ...suite.test,
    include: ['test/world/**/*.test.ts'],
    exclude: [],
    globalSetup: ['test/harness/build-programs.ts', 'test/harness/global.ts'],
  },
});
