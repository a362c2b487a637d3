import { createInterface } from 'node:readline';
import { savedHead } from '../../../subgraphs/receipt/log/saved-head.ts';
import { headOf, logsOf } from './leaves.ts';

/*
 * A process that saves heads: each line of its input has a file, a log, and a size at which it begins. It saves the head of each size from
 * there on, and writes each one that it may answer for.
 */
for await (const line of createInterface({ input: process.stdin })) {
  const { path, leaves, from } = JSON.parse(line) as { path: string; leaves: string; from: number };
  const saved = savedHead(
    path,
    logsOf(() => [leaves]),
  );
  for (let size = from; size <= leaves.length; size++) {
    const outcome = await saved.save(headOf(leaves.slice(0, size))).then(
      () => 'saved',
      fault => (fault as { code?: string }).code ?? String(fault),
    );
    process.stdout.write(`${JSON.stringify({ size, outcome })}\n`);
  }
}
