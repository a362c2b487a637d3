import { createHash } from 'node:crypto';
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { ROOT } from './root.ts';

/** Folders whose files start processes, kill them, and wait for leases to expire. Each takes up to a minute, but little CPU. */
const WAITING =
  /\/test\/(world\/)?(faults|gateways|gateway\/(rails|development|operations|graph\/remote|log)|clients\/openai)\//;
/** Share of the run in which all waiting files begin, so that no long one begins near the end. */
const WAITING_BEGUN_BY = 0.8;

/**
 * Spreads waiting files among computing ones, so that the cores are busy from the first file to the last. Within each group, files that
 * failed last time come first, then those that took longest or are largest.
 */
export class Interleaved extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seed = process.env.TEST_ORDER_SEED;
    if (seed !== undefined) return shuffled(files, seed);
    const sorted = await super.sort(files);
    const waiting = sorted.filter(({ moduleId }) => WAITING.test(moduleId));
    const computing = sorted.filter(({ moduleId }) => !WAITING.test(moduleId));
    return [...spread(waiting, WAITING_BEGUN_BY), ...spread(computing, 1)]
      .sort((one, other) => one.at - other.at)
      .map(({ file }) => file);
  }
}

function spread(files: readonly TestSpecification[], until: number) {
  return files.map((file, index) => ({ file, at: (until * index) / files.length }));
}

/** An order that depends only on the seed, for `npm run test:often`. */
function shuffled(files: readonly TestSpecification[], seed: string): TestSpecification[] {
  const place = ({ moduleId }: TestSpecification) =>
    createHash('sha256')
      .update(`${seed} ${relative(ROOT, moduleId)}`)
      .digest('hex');
  return files
    .map(file => ({ file, place: place(file) }))
    .sort((one, other) => (one.place < other.place ? -1 : 1))
    .map(({ file }) => file);
}
