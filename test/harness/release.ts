import { AsyncLocalStorage } from 'node:async_hooks';

type Release = () => Promise<unknown> | unknown;

const releases: Release[] = [];
/** Set while something is opened that outlives the file which has asked for it first. */
const outliving = new AsyncLocalStorage<true>();

/** Registers a release, called after the file's last test, failed or not: last opened, first closed. */
export function atEnd(release: Release): void {
  if (!outliving.getStore()) releases.push(release);
}

/**
 * Opens what all files of a worker share. No test closes it: its connections end with the worker, and its stand-ins with
 * the run, which clears the folders of its workers (global.ts).
 */
export function forTheWorker<T>(open: () => Promise<T>): Promise<T> {
  return outliving.run(true, open);
}

/** Whether what is opened now is for the worker, and not for its present file. */
export function isForTheWorker(): boolean {
  return outliving.getStore() === true;
}

/** Called after each file: see each-file.ts. */
export async function releaseAll(): Promise<void> {
  const failures: unknown[] = [];
  for (const release of releases.splice(0).reverse()) {
    try {
      await release();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'not everything was released');
}
