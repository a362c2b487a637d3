import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { isIssuerHistory, isRevocations } from '../../../subgraphs/receipt/verify/histories.ts';
import { documentEndings } from '../../../subgraphs/receipt/verify/read-document.ts';
import { ROOT } from '../../built.js';
import { OperatorFault } from '../../config/fault.ts';
import type { ExaminedDocument, VerifyCommandOptions } from './examine.ts';
import type { UnreadDocument } from './json.ts';
import { jsonAt } from './source.ts';
import type { FileBatch, FileBatchExamined } from './worker.ts';

/*
 * Verifies a directory of documents on all cores. Each thread gets some files at a time, and the results are in the order of the
 * files.
 */

const FILES_PER_BATCH = 64;
/** Number of batches for each thread, which keeps all threads busy. Results that wait for earlier ones stay in memory. */
const BATCHES_AHEAD_PER_THREAD = 2;

const isNamed = (name: string) => documentEndings.some(ending => name.toLowerCase().endsWith(ending));

export interface Folder {
  /** Paths in alphabetical order. */
  readonly documents: readonly string[];
  /** Number of links and of files with other endings, which are not read. */
  readonly skipped: number;
}

/** All documents in the folder and below it. Links are not followed, because they may lead out of the folder or form a cycle. */
export async function documentsIn(folder: string): Promise<Folder> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    (fault: NodeJS.ErrnoException) => {
      throw new OperatorFault(`${folder} cannot be read (${fault.code}); check the path and its permissions`);
    },
  );
  const isDocument = (entry: Dirent) => entry.isFile() && isNamed(entry.name);
  const documents = entries.filter(isDocument).map(entry => join(entry.parentPath, entry.name));
  return {
    documents: documents.sort(),
    skipped: entries.filter(entry => !entry.isDirectory()).length - documents.length,
  };
}

/** File names under which issuers publish histories and revocation lists. */
const HISTORY_NAMED = /(history|revocations)[^/]*\.json$/i;

/** The histories and revocation lists among the files. They decide about documents that revoked keys signed. */
export async function historiesIn(files: readonly string[]): Promise<JsonObject[]> {
  const read = files.filter(file => HISTORY_NAMED.test(file)).map(file => jsonAt(file).catch(() => null));
  return (await Promise.all(read))
    .filter(found => found !== null)
    .filter(found => isIssuerHistory(found) || isRevocations(found));
}

/** Yields the results in the order of `files`. */
export async function* examineAll(
  files: readonly string[],
  options: VerifyCommandOptions,
): AsyncGenerator<ExaminedDocument | UnreadDocument> {
  const batches = Array.from({ length: Math.ceil(files.length / FILES_PER_BATCH) }, (_, id) => ({
    id,
    files: files.slice(id * FILES_PER_BATCH, (id + 1) * FILES_PER_BATCH),
  }));
  const threads = Array.from({ length: Math.min(availableParallelism(), batches.length) }, () => startThread(options));
  try {
    const ahead = threads.length * BATCHES_AHEAD_PER_THREAD;
    const under_way: Promise<FileBatchExamined>[] = [];
    for (const batch of batches) {
      under_way.push(leastBusy(threads).examine(batch));
      const next = under_way.length >= ahead ? under_way.shift() : undefined;
      if (next) yield* (await next).examined;
    }
    for (const next of under_way) yield* (await next).examined;
  } finally {
    await Promise.all(threads.map(thread => thread.end()));
  }
}

type Thread = ReturnType<typeof startThread>;

const leastBusy = (threads: readonly Thread[]) =>
  threads.reduce((least, thread) => (thread.waiting() < least.waiting() ? thread : least));

function startThread(options: VerifyCommandOptions) {
  // A thread starts like any program: from the build if there is one.
  const worker = new Worker(join(ROOT, 'gateway/launch.js'), {
    argv: ['gateway/commands/verify/worker.ts'],
    workerData: { ...options },
  });
  const waiting = new Map<number, PromiseWithResolvers<FileBatchExamined>>();
  const failAll = (fault: Error) => {
    for (const { reject } of waiting.values()) reject(fault);
  };
  worker.on('message', (result: FileBatchExamined) => {
    waiting.get(result.id)?.resolve(result);
    waiting.delete(result.id);
  });
  worker.on('error', failAll);
  worker.on('exit', () => failAll(new Error('a thread ended before it had examined its files')));
  return {
    waiting: () => waiting.size,
    examine(batch: FileBatch): Promise<FileBatchExamined> {
      const result = Promise.withResolvers<FileBatchExamined>();
      // The caller awaits batches in order, so a later batch may reject before it is awaited.
      result.promise.catch(() => {});
      waiting.set(batch.id, result);
      worker.postMessage(batch);
      return result.promise;
    },
    end: () => worker.terminate(),
  };
}
