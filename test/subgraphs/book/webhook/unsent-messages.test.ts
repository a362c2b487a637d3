import { beforeAll, expect, it } from 'vitest';
import { queueUnsentMessages } from '../../../../subgraphs/book/webhook/unsent-messages.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { freshStore } from '../../../harness/store.ts';
import { runBookTask } from '../../../harness/webhook/run-book-task.ts';
import { openWebhookBooks } from '../../../harness/webhook/webhook-books.ts';

let database: Database;
beforeAll(async () => {
  database = await freshStore();
});

const jobs = () =>
  database.query({ text: 'select key, attempts from graphile_worker.jobs where key is not null order by key' });
const query = (text: string) => database.query({ text });

it('a book that has something to tell has a job, whatever became of the one that it had; another has none', async () => {
  const books = openWebhookBooks(database);
  for (const agent of [1, 2, 3, 4]) await books.open(agent, 'http://127.0.0.1:9/');
  await query('delete from graphile_worker._private_jobs');
  await books.tell([1, 2, 3]);
  expect(await queueUnsentMessages(database)).toBe(0);

  await query(`delete from graphile_worker._private_jobs where key = 'webhook 1'`);
  await query(`update graphile_worker._private_jobs set attempts = max_attempts where key = 'webhook 2'`);
  await query(`update webhook set enabled = false where agent_id = 3`);
  await query(`delete from graphile_worker._private_jobs where key = 'webhook 3'`);
  expect(await queueUnsentMessages(database)).toBe(2);
  expect(await jobs()).toEqual([
    { key: 'webhook 1', attempts: 0 },
    { key: 'webhook 2', attempts: 0 },
  ]);
  await query('update webhook w set told_messages = webhook_messages from book b where b.agent_id = w.agent_id');
  await query('delete from graphile_worker._private_jobs');
  expect(await queueUnsentMessages(database)).toBe(0);
});

it('what a webhook was to be told of and its owner wants no more counts as told', async () => {
  const books = openWebhookBooks(database);
  await books.open(5, 'http://127.0.0.1:9/');
  await books.tell([5]);
  await query('delete from graphile_worker._private_jobs');
  await query(`update webhook set events = '["settle"]' where agent_id = 5`);
  await runBookTask(database, 5);
  expect(await queueUnsentMessages(database)).toBe(0);
  expect(await query('select last_status, failures from webhook where agent_id = 5')).toEqual([
    { last_status: null, failures: 0 },
  ]);
});
