import { parentPort, workerData } from 'node:worker_threads';
import { OperatorFault } from '../../config/fault.ts';
import { type ExaminedDocument, examine, type IssuerKeySets, type VerifyCommandOptions } from './examine.ts';
import type { UnreadDocument } from './json.ts';

/* A thread that verifies files in batches and returns the results of each batch in order. */

/** A message to the thread. The response is a FileBatchExamined. */
export interface FileBatch {
  readonly id: number;
  readonly files: readonly string[];
}
export interface FileBatchExamined {
  readonly id: number;
  readonly examined: readonly (ExaminedDocument | UnreadDocument)[];
}

const key_sets: IssuerKeySets = new Map();

async function one(file: string): Promise<ExaminedDocument | UnreadDocument> {
  try {
    return await examine(file, workerData as VerifyCommandOptions, key_sets);
  } catch (fault) {
    // A document that crashes the verifier counts as unread, and the others are still verified.
    return {
      source: file,
      unread: fault instanceof OperatorFault ? fault.message : `${file} cannot be verified: ${fault}`,
    };
  }
}

parentPort?.on('message', async ({ id, files }: FileBatch) => {
  const examined: (ExaminedDocument | UnreadDocument)[] = [];
  for (const file of files) examined.push(await one(file));
  parentPort?.postMessage({ id, examined } satisfies FileBatchExamined);
});
