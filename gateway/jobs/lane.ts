import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as library from 'graphile-worker';
import type { Logger } from 'pino';
import { lookInTime } from '../operations/metrics.ts';
import { Worker, type WorkerParts } from './worker.ts';

/** Between two workers: what made the one fail may take a moment to pass. */
const REST_MS = 500;
/** What a stop waits for beside the jobs that run. */
const STOP_MS_MAX = 1_000;
/** A worker that has not looked for jobs once after so many sweeps that reached the database is replaced. */
const SWEEPS_MAX = 3;

export interface LaneParts extends Omit<WorkerParts, 'id' | 'library' | 'tasks' | 'free'> {
  readonly name: string;
  /** As of now: none where there is nothing that may run. */
  readonly tasks: (signal: AbortSignal) => library.TaskList;
  /** Resolves when it is noted whose worker this is; rejects while that cannot be. */
  readonly note: (id: string) => Promise<unknown>;
  readonly free: (id: string) => Promise<unknown>;
  readonly logger: Logger;
}

/** Some kinds of jobs that wait for no others: keeps one worker of the library at them, and replaces it where it fails. */
export class Lane {
  readonly #parts: LaneParts;
  readonly #stopping = new AbortController();
  readonly #ending = new Set<Promise<void>>();
  #id: string | null = null;
  #worker: Worker | null = null;
  #sweeps = 0;
  #running: Promise<void> = Promise.resolve();

  constructor(parts: LaneParts) {
    this.#parts = parts;
  }

  /** Of the worker that may hold jobs just now. */
  get id(): string | null {
    return this.#id;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** The database was reached just now. */
  swept(): void {
    if (!this.#worker || this.#worker.fetched) this.#sweeps = 0;
    else if (++this.#sweeps >= SWEEPS_MAX) this.renew();
  }

  /** For another: by what may run now, or because this one does nothing. */
  renew(): void {
    if (this.#worker) this.#end(this.#worker);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.renew();
    // It may be asking a database that is away whose worker the next one is.
    await lookInTime(this.#running, STOP_MS_MAX);
    await Promise.all(this.#ending);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const { logger, name } = this.#parts;
    while (!signal.aborted) {
      try {
        await this.#work();
      } catch (error) {
        logger.debug({ err: error }, `jobs: no worker for ${name} yet`);
      }
      await sleep(REST_MS, null, { signal }).catch(() => {});
    }
  }

  /** Until it fails or is to be replaced. */
  async #work(): Promise<void> {
    const { tasks, note, free, name, ...parts } = this.#parts;
    if (Object.keys(tasks(this.#stopping.signal)).length === 0) return;
    const imported = await import('graphile-worker');
    const id = `${name}-${randomBytes(9).toString('hex')}`;
    await note(id);
    if (this.#stopping.signal.aborted) return void (await free(id));
    const worker = new Worker({ ...parts, id, library: imported, tasks, free: () => free(id) });
    this.#sweeps = 0;
    this.#id = id;
    this.#worker = worker;
    await worker.failed;
    this.#end(worker);
  }

  /** Nobody waits for what is under way there, but who stops. */
  #end(worker: Worker): void {
    if (this.#worker === worker) {
      this.#worker = null;
      this.#id = null;
    }
    const ended = worker.stop().catch(() => {});
    this.#ending.add(ended);
    void ended.then(() => this.#ending.delete(ended));
  }
}
