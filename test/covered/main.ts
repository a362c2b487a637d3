import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ROOT } from '../harness/root.ts';
import { codeLines } from './code-lines.ts';
import { COVERED_FOLDERS, Covered } from './coverage.ts';

/*
 * `npm run test:coverage -- [--out FILE] [--against FILE] [--of FILE] [arguments of Vitest]`: runs the first lane, and says of each
 * folder of the code how many of its lines ran in any process: the workers, services, subgraphs and commands, as far as they come to
 * an end by themselves (who is killed says nothing). `--against`: the `--out` of an earlier run; ends with 1 where a folder's share is
 * lower. `--of`: the `--out` of the run that is meant, in place of one.
 */

const VITEST = join('node_modules', 'vitest', 'vitest.mjs');
const LOOK_MS = 1_000;

interface Share {
  readonly lines: number;
  /** Line numbers from 1. */
  readonly missed: readonly number[];
}
type Shares = Readonly<Record<string, Share>>;

const { values, positionals } = parseArgs({
  options: { out: { type: 'string' }, against: { type: 'string' }, of: { type: 'string' } },
  allowPositionals: true,
});

const { code, shares } = values.of === undefined ? await measure() : { code: 0, shares: kept(values.of) };
if (values.out !== undefined) writeFileSync(values.out, JSON.stringify(shares));
const before = values.against === undefined ? null : kept(values.against);
const lower = COVERED_FOLDERS.filter(name => describe(name));
if (before !== null) describeFiles(before);
process.exitCode = code === 0 && lower.length === 0 ? 0 : 1;

function kept(path: string): Shares {
  return JSON.parse(readFileSync(path, 'utf8'));
}

async function measure(): Promise<{ readonly code: number; readonly shares: Shares }> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-coverage-'));
  const covered = new Covered();
  const code = await runTests(folder, covered);
  rmSync(folder, { recursive: true, force: true });
  for (const file of covered.unmapped) console.log(`not counted, as nothing says of which source it was made: ${file}`);
  return { code, shares: sharesOf(covered) };
}

async function runTests(folder: string, covered: Covered): Promise<number> {
  const tests = spawn(process.execPath, [VITEST, 'run', '--configLoader', 'native', ...positionals], {
    stdio: 'inherit',
    env: {
      ...process.env,
      // Node passes it on to all of its children.
      NODE_V8_COVERAGE: folder,
      NODE_OPTIONS: `--import=${join(import.meta.dirname, 'at-stop.ts')}`,
      // V8 does not count the blocks of functions that come from a code cache.
      NODE_DISABLE_COMPILE_CACHE: '1',
    },
  });
  const exited = once(tests, 'exit').then(([status]: (number | null)[]) => status ?? 1);
  let status: number | null = null;
  // A process leaves tens of megabytes, so they are read and removed while others run.
  while (status === null) {
    status = await Promise.race([exited, sleep(LOOK_MS, null)]);
    await readReports(folder, covered);
  }
  return status;
}

async function readReports(folder: string, covered: Covered): Promise<void> {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    try {
      await covered.add(path);
    } catch (fault) {
      if (fault instanceof SyntaxError) continue;
      throw fault;
    }
    rmSync(path, { force: true });
  }
}

function sharesOf({ lines }: Covered): Shares {
  const files = COVERED_FOLDERS.flatMap(name =>
    readdirSync(join(ROOT, name), { recursive: true, encoding: 'utf8' })
      .filter(file => /\.[jt]s$/.test(file))
      .map(file => `${name}/${file}`),
  ).sort();
  const counted = files.map((file): [string, Share] => {
    const wanted = [...codeLines(file, readFileSync(join(ROOT, file), 'utf8'))];
    const ran = lines.get(file);
    const missed = wanted.filter(line => !ran?.has(line)).map(line => line + 1);
    return [file, { lines: wanted.length, missed: missed.sort((one, other) => one - other) }];
  });
  return Object.fromEntries(counted.filter(([, share]) => share.lines > 0));
}

/** Whether its share is lower than before. */
function describe(name: string): boolean {
  const now = shareOf(shares, name);
  const then = before === null ? null : shareOf(before, name);
  console.log(`${percent(now)} of the lines of ${name}${then === null ? '' : `, before ${percent(then)}`}`);
  return then !== null && now.ran / now.lines < then.ran / then.lines;
}

function describeFiles(then: Shares): void {
  for (const [file, { lines, missed }] of Object.entries(shares)) {
    const former = then[file];
    if (former && missed.length / lines > former.missed.length / former.lines)
      console.log(
        `${file}: ${missed.length} of ${lines} lines did not run, before ${former.missed.length} of ${former.lines}: ${missed.join(', ')}`,
      );
  }
}

function shareOf(all: Shares, name: string) {
  const own = Object.entries(all).flatMap(([file, share]) => (file.startsWith(`${name}/`) ? [share] : []));
  const lines = own.reduce((sum, share) => sum + share.lines, 0);
  return { lines, ran: lines - own.reduce((sum, { missed }) => sum + missed.length, 0) };
}

function percent({ lines, ran }: ReturnType<typeof shareOf>): string {
  return `${((100 * ran) / lines).toFixed(2)} % (${ran} of ${lines})`;
}
