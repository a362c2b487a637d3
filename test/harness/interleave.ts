import { createHash } from 'node:crypto';
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { ROOT } from './root.ts';

/** Files there start processes, kill them, and wait for leases to run out: up to a minute each, and little of it work. */
const WAITING =
  /\/test\/(world\/)?(faults|gateways|gateway\/(rails|development|operations|graph\/remote|log)|clients\/openai)\//;
/** Of the run: by then the last of them has begun, so that no long one is left over. */
const WAITING_BEGUN_BY = 0.8;

/**
 * Files that wait are spread among those that compute, so that the cores have work beside them from the first to the last.
 * Among each kind: what failed last, what took longest last, or what is largest.
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

/** An order that hangs on the seed and on nothing else: `npm run test:often`. */
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
