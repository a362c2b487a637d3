import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { alternate, type Figure, figure, missingFigure } from './alternate.ts';
import type { Contest, Sides } from './contest.ts';
import { contests } from './contests.ts';
import { type MeasuredFigure, writePage } from './page.ts';
import { heading, machine, tableRow } from './print.ts';
import { Stage } from './stage.ts';

/*
 * Measures what this service costs, compared with the usual way to do the same, on loopback only. It asserts nothing. A goal that is not
 * reached is printed as such.
 *   --quick       fewer rounds and less work in each
 *   --only NAME   only contests whose name begins with NAME
 *   --json PATH   also writes the figures as JSON
 *   --write       writes the figures into figures.md of this folder; not for a quick run
 *   --profile DIR writes a CPU profile of each server process
 */
const options = {
  quick: { type: 'boolean', default: false },
  only: { type: 'string', default: '' },
  json: { type: 'string' },
  write: { type: 'boolean', default: false },
  profile: { type: 'string' },
} as const;
const { quick, only, json, write, profile } = parseArgs({ options }).values;
const rounds = quick ? 2 : 5;
const chosen = contests.filter(({ name }) => name.startsWith(only));
if (chosen.length === 0) throw new Error(`there is ${contests.map(({ name }) => name).join(', ')}`);

if (write && quick) throw new Error('figures of a quick run are not written');

const arena = { stage: await Stage.open(profile ?? null), quick, seconds: quick ? 0.25 : 2.5 };
const stop = (signal: NodeJS.Signals) => void arena.stage.close().finally(() => process.kill(process.pid, signal));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);

interface ContestEntry {
  readonly contest: Contest;
  readonly closing: AsyncDisposableStack;
  readonly sides: Promise<Sides | null>;
}

const played = new Map<Contest, readonly Figure[]>();
const entered: ContestEntry[] = [];
const on = machine(rounds);
console.log(`${on}\n\n${heading}`);
try {
  for (const contest of chosen) entered.push(enter(contest));
  // Contests that wait for blocks are played first, while the others are prepared.
  const [waiting, working] = [entered.filter(one => one.contest.waits), entered.filter(one => !one.contest.waits)];
  for (const one of waiting) played.set(one.contest, await play(one));
  await Promise.allSettled(entered.map(({ sides }) => sides));
  for (const one of working) played.set(one.contest, await play(one));
} finally {
  await Promise.allSettled(entered.map(({ sides }) => sides));
  for (const { closing } of entered) await closing.disposeAsync();
  await arena.stage.close();
}

const taken = chosen.flatMap(contest => (played.get(contest) ?? []).map((it): MeasuredFigure => [it, contest.beside]));
for (const [figure, beside] of taken) console.log(tableRow(figure, beside));
const figures = taken.map(([figure]) => figure);
if (json) await writeFile(json, `${JSON.stringify(figures, null, 2)}\n`);
const names = contests.flatMap(({ lines }) => lines.map(({ name }) => name));
if (write) await writePage(names, taken, on);

function enter(contest: Contest): ContestEntry {
  const closing = new AsyncDisposableStack();
  const sides = contest.note === undefined ? contest.open({ ...arena, closing }) : Promise.resolve(null);
  // Marks a rejection as handled, because the promise may reject before it is awaited.
  sides.catch(() => {});
  return { contest, closing, sides };
}

/** Plays a contest. If it fails, the others still run. */
async function play({ contest, closing, sides }: ContestEntry): Promise<readonly Figure[]> {
  const lines = (quick && contest.quick_lines) || contest.lines;
  const opened = await sides.catch(failed);
  if (opened instanceof Error) return lines.map(line => missingFigure(line, opened.message));
  if (!opened) return lines.map(line => missingFigure(line, contest.note ?? ''));
  const began_ms = performance.now();
  // The interval of blocks is fixed, so a quick run waits for only one of them on each side.
  const taken = await alternate(opened, quick && contest.waits ? 1 : rounds, !contest.waits).catch(failed);
  await closing.disposeAsync();
  console.error(`${contest.name}: ${((performance.now() - began_ms) / 1000).toFixed(1)} s`);
  return lines.map(line => (taken instanceof Error ? missingFigure(line, taken.message) : figure(line, taken)));
}

function failed(fault: unknown): Error {
  process.exitCode = 1;
  console.error(fault);
  return new Error(`failed: ${fault instanceof Error ? fault.message.split('\n')[0] : fault}`);
}
