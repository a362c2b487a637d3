import './test/harness/compile-on-load.ts';
import { defineConfig } from 'vitest/config';
import { Interleaved } from './test/harness/interleave.ts';

/** On two cores. Many tests wait for processes and leases: more files than cores keep the cores busy; with more than these, they wait for each other. */
const FILES_AT_ONCE = 4;

/** `npm test`: all that needs nothing but what npm brings. What needs more is in test/world: vitest.world.config.ts. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/world/**'],
    pool: 'forks',
    // Node loads our sources and its libraries by itself: Vite would transform all of them in every run, and evaluate them
    // one by one in every worker.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: ['--import', './test/harness/compile-on-load.ts'],
    maxWorkers: FILES_AT_ONCE,
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
