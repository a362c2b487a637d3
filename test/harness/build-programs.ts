import { existsSync } from 'node:fs';
import { locateBuild } from '../../gateway/built.js';
import { build } from '../../gateway/development/build.ts';

/** What the second lane starts as processes, built before its files take all the cores; what is built already stays. */
const programs = ['gateway/main.ts', 'test/harness/mains.ts', 'test/bench/main.ts'];

export async function setup(): Promise<void> {
  for (const program of programs) {
    const built = locateBuild(program);
    if (!existsSync(built.file)) await build(built);
  }
}
