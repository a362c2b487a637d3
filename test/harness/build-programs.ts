import { existsSync } from 'node:fs';
import { locateBuild } from '../../gateway/built.js';
import { build } from '../../gateway/development/build.ts';

/**
 * Programs that the second lane of tests starts as processes. They are built before the test files occupy all cores; existing builds are
 * reused.
 */
const programs = ['gateway/main.ts', 'test/harness/mains.ts', 'test/bench/main.ts'];

export async function setup(): Promise<void> {
  for (const program of programs) {
    const built = locateBuild(program);
    if (!existsSync(built.file)) await build(built);
  }
}
