import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { withParentDeathSignal } from '../harness/parent-death-signal.ts';

/*
 * `npm run test:often -- [--runs 20] [--busy 5] [--seed S] [arguments of Vitest]`: runs the first lane repeatedly, each time with its files
 * in another order. During the last `busy` runs two loops keep the cores busy. Prints the seed of each order, which `--runs 1 --seed S`
 * repeats. Exits with 1 if any run failed.
 */

const VITEST = join('node_modules', 'vitest', 'vitest.mjs');
const BUSY_LOOPS = 2;

const { values, positionals } = parseArgs({
  options: {
    runs: { type: 'string', default: '20' },
    busy: { type: 'string', default: '5' },
    seed: { type: 'string' },
  },
  allowPositionals: true,
});
const runs = Number(values.runs);
const quiet_runs = runs - Number(values.busy);

const failed: number[] = [];
for (let run = 1; run <= runs; run++) {
  const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed) + run - 1;
  const loops = run > quiet_runs ? Array.from({ length: BUSY_LOOPS }, busyLoop) : [];
  console.log(`run ${run} of ${runs}: seed ${seed}${loops.length > 0 ? `, beside ${loops.length} busy loops` : ''}`);
  const began_ms = Date.now();
  const code = await runTests(seed).finally(() => {
    for (const loop of loops) loop.kill('SIGKILL');
  });
  if (code !== 0) failed.push(seed);
  console.log(`run ${run}: ${code === 0 ? 'passed' : 'FAILED'} in ${Math.round((Date.now() - began_ms) / 1_000)} s`);
}
console.log(
  failed.length === 0 ? `all ${runs} runs passed` : `${failed.length} of ${runs} failed: seeds ${failed.join(', ')}`,
);
process.exitCode = failed.length === 0 ? 0 : 1;

async function runTests(seed: number): Promise<number> {
  const tests = spawn(process.execPath, [VITEST, 'run', '--configLoader', 'native', ...positionals], {
    stdio: 'inherit',
    env: { ...process.env, TEST_ORDER_SEED: String(seed) },
  });
  const [code]: (number | null)[] = await once(tests, 'exit');
  return code ?? 1;
}

/** Starts a loop that keeps a core busy. It ends together with this process. */
function busyLoop(): ChildProcess {
  return spawn(...withParentDeathSignal('/bin/sh', ['-c', 'while :; do :; done']), { stdio: 'ignore' });
}
