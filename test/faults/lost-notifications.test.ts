import { beforeEach, expect, it } from 'vitest';
import type { Database } from '../../subgraphs/database.ts';
import { grow } from '../harness/anchor/ground.ts';
import { openLogWatch, ROLL_LOG_BACK } from '../harness/faults/log-watch.ts';
import { freshStore } from '../harness/store.ts';

/* The connection on which a process receives events of the log is cut. Once it listens again, it must find what happened in between. */

let store: Database;
beforeEach(async () => {
  store = await freshStore();
  await grow(store, 1, 2);
  await grow(store, 3, 4);
});

/** A watch whose connection is cut, and whose new connections are refused until the test allows them. */
async function deafened() {
  let deaf = false;
  const connect: Database['connect'] = () => (deaf ? Promise.reject(new Error('no way there')) : store.connect());
  const { known, watch } = await openLogWatch(store, { connect });
  expect(known.newest?.tree_size).toBe(4);
  const listening = `from pg_stat_activity where datname = current_database() and query ilike 'listen%'`;
  deaf = true;
  await store.query({ text: `select pg_terminate_backend(pid) ${listening}` });
  await expect.poll(() => store.query({ text: `select pid ${listening}` })).toEqual([]);
  return {
    known,
    watch,
    hearAgain: () => {
      deaf = false;
    },
  };
}

it('a log that went back meanwhile is halted', async () => {
  const { watch, hearAgain } = await deafened();
  await store.query({ text: ROLL_LOG_BACK });
  expect(watch.halt).toBeNull();
  hearAgain();
  await expect.poll(() => watch.halt).toMatchObject({ known: { tree_size: 4 }, found: { tree_size: 2 } });
});

it('a head that others committed meanwhile is known', async () => {
  const { known, watch, hearAgain } = await deafened();
  await grow(store, 5);
  expect(known.heads()).toMatchObject([{ tree_size: 4 }]);
  hearAgain();
  await expect.poll(() => known.newest?.tree_size).toBe(5);
  expect(watch.halt).toBeNull();
});
