import { defineConfig } from 'vitest/config';
import { Interleaved } from './test/harness/interleaved.ts';

export default defineConfig({
  // Vite prefers package.json#module (graphql/index.mjs) while the Apollo packages load graphql/index.js:
  // without the alias two copies of graphql meet and every schema check fails.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    // Most tests wait for processes and leases: more files than cores keep the cores busy.
    maxWorkers: 6,
    sequence: { sequencer: Interleaved },
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // What a round of reconcile brings about comes within seconds, on a busy machine within some more.
    expect: { poll: { timeout: 60_000, interval: 50 } },
    globalSetup: ['test/harness/global.ts'],
    // Files that one worker runs share what they import: to load it anew for each would take longer than most of them.
    isolate: false,
    setupFiles: ['test/harness/each-file.ts'],
  },
});
