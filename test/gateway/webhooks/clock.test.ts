import { beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../subgraphs/database.ts';
import { freshStore } from '../../harness/store.ts';
import { openReceiver } from '../../harness/webhook/receiver.ts';
import { runBookTask } from '../../harness/webhook/run-book-task.ts';
import { openWebhookBooks } from '../../harness/webhook/webhook-books.ts';

let database: Database;
beforeAll(async () => {
  database = await freshStore();
});

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

it('a process whose clock goes wrong signs by the database’s, and puts no message off', async () => {
  const [books, receiver] = [openWebhookBooks(database), await openReceiver()];
  await books.open(1, receiver.url);
  await books.tell([1, 1]);
  // An hour passes with each look: its turn is over at once.
  let looks = 0;
  await runBookTask(database, 1, { now_ms: () => Date.now() + HOUR_MS * ++looks });
  const [message] = receiver.received;
  const signed_ms = Number(message?.headers['webhook-timestamp']) * 1_000;
  expect(Math.abs(signed_ms - Date.now())).toBeLessThan(MINUTE_MS);
  expect(receiver.received).toHaveLength(1);
  const jobs = await database.query({ text: 'select run_at <= now() as due from graphile_worker.jobs' });
  expect(jobs).toEqual([{ due: true }]);
});
