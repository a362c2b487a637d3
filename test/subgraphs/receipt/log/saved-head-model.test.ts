import { readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LogHalted } from '../../../../subgraphs/receipt/log/halt.ts';
import { SLOT_BYTES } from '../../../../subgraphs/receipt/log/head-slots.ts';
import { type SavedHead, savedHead } from '../../../../subgraphs/receipt/log/saved-head.ts';
import type { SignedTreeHead } from '../../../../subgraphs/receipt/log/tree-head.ts';
import { headOf, logsOf } from '../../../harness/log/leaves.ts';
import { clearScratch, makeScratch, memoryFolder } from '../../../harness/scratch.ts';

/* Processes that share a DATA_DIR, of which any may die at any byte, be suspended, or append to a database that was set back. */

const PROCESSES = 3;

interface Process {
  readonly saved: SavedHead;
  /** Number of breaks that were declared before it started. */
  readonly epoch: number;
  /** Its database, as it knows it. */
  leaves: string;
}

type Act =
  /** These processes append one after the other, and save at the same time. */
  | { readonly kind: 'append'; readonly processes: readonly number[] }
  /** A process saves a head of before once more. */
  | { readonly kind: 'repeat'; readonly process: number; readonly back: number }
  /** Its database is set back, and it does not know. */
  | { readonly kind: 'set_back'; readonly process: number; readonly leaves: number }
  /** It dies, and another starts in its place. `cut`: when so many bytes of its next head were written. */
  | { readonly kind: 'die'; readonly process: number; readonly cut: number | null }
  | { readonly kind: 'stop'; readonly process: number }
  | { readonly kind: 'look'; readonly process: number }
  /** A minute passes in which nothing is written. */
  | { readonly kind: 'age' }
  | { readonly kind: 'declare'; readonly leaves: number };

const process = fc.nat({ max: PROCESSES - 1 });
const few = fc.nat({ max: 3 });
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('append'), processes: fc.array(process, { minLength: 1, maxLength: 4 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('repeat'), process, back: few }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('set_back'), process, leaves: few }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('die'),
      process,
      cut: fc.option(fc.nat({ max: 700 }), { freq: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('stop'), process }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('look'), process }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('age') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('declare'), leaves: few }) },
) as fc.Arbitrary<Act>;

/** Whether of any two one is a prefix of the other. */
function areOneLog(logs: ReadonlySet<string>): boolean {
  const by_size = [...logs].sort((one, other) => one.length - other.length);
  return by_size.every((leaves, index) => leaves.startsWith(by_size[index - 1] ?? ''));
}

/** The files, and what must be true of them. */
class Model {
  readonly #path: string;
  readonly #processes: (Process | null)[] = Array.from({ length: PROCESSES }, () => null);
  /** Every log that any process has ever had. */
  readonly #logs = new Set<string>(['']);
  #leaves = '';
  #forks = 0;
  #epoch = 0;
  #minute = 0;
  /** Heads of this epoch that were answered for. */
  #answered = new Set<string>();
  /** Heads of this epoch that may be on disk. */
  #written = new Set<string>();

  constructor(path: string) {
    this.#path = path;
  }

  async run(it: Act): Promise<void> {
    switch (it.kind) {
      case 'append':
        await this.#append(it.processes);
        break;
      case 'repeat': {
        const running = await this.#running(it.process);
        if (running) await this.#save(running, running.leaves.slice(0, Math.max(0, running.leaves.length - it.back)));
        break;
      }
      case 'set_back': {
        const running = await this.#running(it.process);
        if (running) running.leaves = this.#grown(running.leaves.slice(0, it.leaves), `${this.#forks++ % 10}`);
        break;
      }
      case 'die':
        if (it.cut !== null) await this.#dieWhileSaving(it.process, it.cut);
        this.#processes[it.process] = null;
        break;
      case 'stop':
        await this.#processes[it.process]?.saved.close();
        this.#processes[it.process] = null;
        break;
      case 'look':
        this.#processes[it.process]?.saved.readChanges();
        break;
      case 'age':
        this.#minute++;
        for (const file of await this.#slots()) await utimes(file, 0, 0);
        break;
      case 'declare':
        this.#leaves = this.#leaves.slice(0, it.leaves);
        await this.#open().restart(this.#leaves === '' ? null : headOf(this.#leaves));
        this.#epoch++;
        this.#answered = new Set();
        this.#written = new Set([this.#leaves]);
    }
    await this.#check();
  }

  async #check(): Promise<void> {
    const heads = (await this.#open().readAll()).map(head => this.#leavesOf(head));
    for (const head of heads) expect(this.#written).toContain(head);
    for (const answered of this.#answered) expect(heads.some(head => head.startsWith(answered))).toBe(true);
    expect(areOneLog(this.#answered)).toBe(true);
  }

  async #append(numbers: readonly number[]): Promise<void> {
    const saves: Promise<void>[] = [];
    for (const number of numbers) {
      const running = await this.#running(number);
      if (running === null) continue;
      // All of one database append to what the others have appended.
      const shared = running.epoch === this.#epoch && this.#leaves.startsWith(running.leaves);
      running.leaves = this.#grown(shared ? this.#leaves : running.leaves, 'a');
      if (shared) this.#leaves = running.leaves;
      saves.push(this.#save(running, running.leaves));
    }
    await Promise.all(saves);
  }

  async #save(running: Process, leaves: string): Promise<void> {
    const is_current = running.epoch === this.#epoch;
    if (is_current) this.#written.add(leaves);
    const fault = await running.saved.save(headOf(leaves, this.#at())).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (fault !== null) expect(fault).toBeInstanceOf(LogHalted);
    if (fault === null) expect(is_current).toBe(true);
    // If all heads are of one log, none may be refused.
    if (is_current && areOneLog(this.#written)) expect(fault).toBeNull();
    if (fault === null) this.#answered.add(leaves);
  }

  /** Leaves the files as they are if only the first bytes of the slot were written. */
  async #dieWhileSaving(number: number, cut: number): Promise<void> {
    const running = await this.#running(number);
    if (running === null || running.epoch !== this.#epoch) return;
    const before = await this.#contents();
    running.leaves = this.#grown(running.leaves, 'd');
    await running.saved.save(headOf(running.leaves, this.#at())).catch(() => {});
    const after = await this.#contents();
    for (const [file, bytes] of after) {
      const old = before.get(file);
      if (old === undefined || old.equals(bytes)) continue;
      const begin = old.subarray(0, SLOT_BYTES).equals(bytes.subarray(0, SLOT_BYTES)) ? SLOT_BYTES : 0;
      const torn = [old.subarray(0, begin), bytes.subarray(begin, begin + cut), old.subarray(begin + cut)];
      await writeFile(file, Buffer.concat(torn));
    }
    this.#written.add(running.leaves);
  }

  /** The process of a number; it is started if it does not run. Null if what is saved refuses its start. */
  async #running(number: number): Promise<Process | null> {
    const running = this.#processes[number];
    if (running) return running;
    const saved = this.#open();
    const heads = await saved.readAll();
    if (!heads.every(head => this.#leaves.startsWith(this.#leavesOf(head)))) return null;
    const started = { saved, epoch: this.#epoch, leaves: this.#leaves };
    this.#processes[number] = started;
    return started;
  }

  #open(): SavedHead {
    return savedHead(
      this.#path,
      logsOf(() => [...this.#logs]),
    );
  }

  #grown(leaves: string, leaf: string): string {
    this.#logs.add(leaves + leaf);
    return leaves + leaf;
  }

  #leavesOf({ tree_size, root_hash }: SignedTreeHead): string {
    for (const log of this.#logs) {
      const leaves = log.slice(0, tree_size);
      if (headOf(leaves).root_hash === root_hash) return leaves;
    }
    throw new Error(`a head of size ${tree_size} was never signed`);
  }

  /** At the first save of a minute, files are merged. */
  #at(): string {
    return new Date(this.#minute * 60_000).toISOString();
  }

  async #slots(): Promise<readonly string[]> {
    const folder = this.#path.replace('.json', '');
    return (await readdir(folder).catch(() => [])).map(name => join(folder, name));
  }

  async #contents(): Promise<ReadonlyMap<string, Buffer>> {
    const files = await this.#slots();
    return new Map(await Promise.all(files.map(async file => [file, await readFile(file)] as const)));
  }
}

it('nothing that was answered is lost, no two logs are answered for, and nothing of before a break counts', async () => {
  const folder = await makeScratch(memoryFolder());
  let run = 0;
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 30 }), async acts => {
        const home = join(folder, String(run++));
        const model = new Model(join(home, 'log-head.json'));
        for (const each of acts) await model.run(each);
        await rm(home, { recursive: true, force: true });
      }),
      { numRuns: 100 },
    );
  } finally {
    await clearScratch(folder);
  }
});
