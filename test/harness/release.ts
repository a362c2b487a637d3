import { AsyncLocalStorage } from 'node:async_hooks';

type Release = () => Promise<unknown> | unknown;

const releases: Release[] = [];
/** Set while something is opened that must stay open after the file that requested it first. */
const outliving = new AsyncLocalStorage<true>();

/** Registers a function that is called after the file's last test, even if one failed. The last one to be registered is called first. */
export function atEnd(release: Release): void {
  if (!outliving.getStore()) releases.push(release);
}

/**
 * Opens something that all files of a worker share. No test closes it: its connections end with the worker, and its stand-ins with the run,
 * which clears the folders of its workers (global.ts).
 */
export function forTheWorker<T>(open: () => Promise<T>): Promise<T> {
  return outliving.run(true, open);
}

/** Whether something that is opened now belongs to the worker and not to the current file. */
export function isForTheWorker(): boolean {
  return outliving.getStore() === true;
}

/** Calls all registered functions. each-file.ts calls it after each file. */
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
