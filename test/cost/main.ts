import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Account, costsOf, type Owners } from './account.ts';
import { type Mark, readMarks } from './marks.ts';
import { busySeconds } from './processes.ts';

/*
 * `npm run test:cost -- [--out FILE] [arguments of Vitest]`: runs the tests and attributes each second of CPU to a kind
 * of process and a test file. It reads /proc, which Linux alone has. Processes that run beside the tests count in the
 * last sum alone.
 */

/** Interval between looks at the processes. One that lives for less is never seen, and its CPU is charged to its parent. */
const LOOK_MS = 100;
const FILES_SHOWN = 80;
const VITEST = join('node_modules', 'vitest', 'vitest.mjs');

const args = process.argv.slice(2);
const out = args[0] === '--out' ? args.splice(0, 2)[1] : undefined;
const folder = mkdtempSync(join(tmpdir(), 'svc-test-cost-'));
const marks_file = join(folder, 'marks');
writeFileSync(marks_file, '');

const began_ms = Date.now();
const busy_before = busySeconds();
const account = new Account();
const vitest = spawn(process.execPath, [VITEST, 'run', '--configLoader', 'native', ...args], {
  stdio: 'inherit',
  env: { ...process.env, TEST_COST_MARKS: marks_file },
});
const looking = setInterval(() => account.look(), LOOK_MS);
const [code]: (number | null)[] = await once(vitest, 'exit');
account.look();
clearInterval(looking);
const wall_seconds = (Date.now() - began_ms) / 1_000;
const busy_seconds = busySeconds() - busy_before;
const marks = readMarks(marks_file);
rmSync(folder, { recursive: true, force: true });

const { by_kind, by_file, count_by_kind } = costsOf(account.seen, marks);
const { user, system } = process.cpuUsage();
by_kind.set('measuring', (user + system) / 1e6);
by_kind.set('the kernel, or what ran beside it', busy_seconds - sum(by_kind));

console.log(`\n${wall_seconds.toFixed(0)} s, ${busy_seconds.toFixed(0)} s of CPU`);
print('kind of process', by_kind, count_by_kind);
console.log(`\n${describeStarts(marks)}`);
const files = [...by_file].map(([file, owners]) => [file, sum(owners), owners] as const);
files.sort(([, one], [, other]) => other - one);
console.log('\nCPU s  file');
for (const [file, seconds, owners] of files.slice(0, FILES_SHOWN))
  console.log(`${seconds.toFixed(1).padStart(6)}  ${file}  ${top(owners)}`);

if (out !== undefined)
  writeFileSync(
    out,
    JSON.stringify({
      wall_seconds,
      busy_seconds,
      by_kind: Object.fromEntries(by_kind),
      by_file: Object.fromEntries(files.map(([file, , owners]) => [file, Object.fromEntries(owners)])),
    }),
  );
process.exitCode = code ?? 1;

function print(title: string, owners: Owners, counts: ReadonlyMap<string, number>): void {
  console.log(`\n CPU s  count  ${title}`);
  for (const [owner, seconds] of [...owners].sort(([, one], [, other]) => other - one))
    if (seconds >= 0.05)
      console.log(`${seconds.toFixed(1).padStart(6)}  ${String(counts.get(owner) ?? '').padStart(5)}  ${owner}`);
}

function describeStarts(all: readonly Mark[]): string {
  const starts = all.filter(mark => mark.event === 'service is ready').map(({ cpu_seconds }) => cpu_seconds);
  const total = starts.reduce((one, other) => one + other, 0);
  const median = starts.sort((one, other) => one - other)[starts.length >> 1] ?? 0;
  return `${starts.length} services were started: ${total.toFixed(1)} s of CPU until /health answered, ${median.toFixed(2)} s each (median)`;
}

function top(owners: Owners): string {
  const parts = [...owners].filter(([, seconds]) => seconds >= 0.5).sort(([, one], [, other]) => other - one);
  return parts.map(([owner, seconds]) => `${owner} ${seconds.toFixed(1)}`).join(', ');
}

function sum(owners: Owners): number {
  return [...owners.values()].reduce((one, other) => one + other, 0);
}
