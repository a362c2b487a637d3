import { parentPort, workerData } from 'node:worker_threads';
import { OperatorFault } from '../../config/fault.ts';
import { type Examined, examine, type IssuerKeySets, type VerifyAsked } from './examine.ts';
import type { Unread } from './json.ts';

/*
 * A thread that examines files in batches and answers each batch with its results in order.
 */

/** A message to the thread; FileBatchExamined is the answer. */
export interface FileBatch {
  readonly id: number;
  readonly files: readonly string[];
}
export interface FileBatchExamined {
  readonly id: number;
  readonly examined: readonly (Examined | Unread)[];
}

const key_sets: IssuerKeySets = new Map();

async function one(file: string): Promise<Examined | Unread> {
  try {
    return await examine(file, workerData as VerifyAsked, key_sets);
  } catch (fault) {
    // A document that crashes the verifier is unread, and the others are still examined.
    return {
      source: file,
      unread: fault instanceof OperatorFault ? fault.message : `${file} cannot be verified: ${fault}`,
    };
  }
}

parentPort?.on('message', async ({ id, files }: FileBatch) => {
  const examined: (Examined | Unread)[] = [];
  for (const file of files) examined.push(await one(file));
  parentPort?.postMessage({ id, examined } satisfies FileBatchExamined);
});
