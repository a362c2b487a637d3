import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { agentId } from '../../../../schema/ids.ts';
import { limits } from '../../../../schema/limits.ts';
import { appendRepeats, forgetHours } from '../../../../subgraphs/book/ledger/repeated-events.ts';
import { replay } from '../../../../subgraphs/book/ledger/replay.ts';
import { rowsOf as rowsOfPage } from '../../../../subgraphs/book/page/page.ts';
import { replaysOf } from '../../../../subgraphs/book/page/row-json.ts';
import { rowScope } from '../../../../subgraphs/book/page/row-scope.ts';
import type { Database, Tx } from '../../../../subgraphs/database.ts';
import { GroupCommit } from '../../../../subgraphs/group-commit.ts';
import { auditBooks } from '../../../harness/faults/audit-books.ts';
import { programOf } from '../../../harness/gateway.ts';
import { collectAll, collection, withBooks } from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

const SINGLES = limits.replay_events_per_hour_max;

let database: Database & { readonly url: string };
beforeAll(async () => {
  database = await freshStore({ mid_hour: true });
});

async function bookWithRows(agent: number, rows: number): Promise<void> {
  await withBooks(database, agent);
  const items = Array.from({ length: rows }, (_, index) => collection(agent, index + 1));
  await database.transaction(tx => collectAll(tx, items));
}

const times = (task_id: string, count: number) => Array.from({ length: count }, () => task_id);
const replayed = (...task_ids: string[]) => database.transaction(tx => replay(tx, task_ids));
/** Writes all counts at once, as if they had waited for their time. */
const appendDueRepeats = () => database.transaction(tx => appendRepeats(tx, 0));
const rowsOf = async (agent: number) =>
  (await rowsOfPage(database, rowScope(agentId(agent), { limit: 200 }))).reverse();
const countsOf = async (agent: number) => (await rowsOf(agent)).map(row => row.replayCount);
const headOf = async (agent: number) => {
  const [head] = await database.query({ text: 'select * from book where agent_id = $1', values: [agent] });
  return head as { seq: number; position: number };
};
const eventsOf = (agent: number) =>
  database.query<{ kind: string; body: { count?: number; at?: string; first_at?: string }; hash: string }>({
    text: `select kind, body, hash from book_event where agent_id = $1 and kind <> 'born' order by position`,
    values: [agent],
  });
const hourPassed = (agent: number) =>
  database.query({
    text: `update book_replay_hour set hour = hour - interval '1 hour' where agent_id = $1`,
    values: [agent],
  });

describe('replays of one row', () => {
  it('are events of their own twenty times an hour, and counted beyond', async () => {
    await bookWithRows(1, 2);
    await replayed(...times('task_1_1', SINGLES - 1));
    await replayed(...times('task_1_1', 64), 'task_1_2');
    expect(await countsOf(1)).toEqual([SINGLES + 63, 1]);
    expect(await headOf(1)).toMatchObject({ seq: 2, position: 2 + SINGLES + 1 });

    const chained = await eventsOf(1);
    expect(await appendDueRepeats()).toBe(1);
    const events = await eventsOf(1);
    expect(events.slice(0, -1)).toEqual(chained);
    const { kind, body } = events.at(-1) ?? {};
    expect({ kind, body }).toEqual({
      kind: 'replay',
      body: {
        at: expect.any(String),
        first_at: expect.any(String),
        count: 63,
        settlement_status: 'idempotent_replay',
        replay_of: 'task_1_1',
      },
    });
    expect(await countsOf(1)).toEqual([SINGLES + 63, 1]);
    expect(await appendDueRepeats()).toBe(0);

    const [first] = await rowsOf(1);
    if (!first) throw new Error('there is a row');
    const shown = await replaysOf(database, first);
    expect(shown).toHaveLength(SINGLES + 1);
    expect(shown[0]).toEqual({ at: expect.any(String), settlement_status: 'idempotent_replay', replay_of: 'task_1_1' });
    expect(shown.at(-1)).toEqual(body);
    await auditBooks(database);
  });

  it('become no event before their minute is over', async () => {
    await bookWithRows(2, 1);
    await replayed(...times('task_2_1', 30));
    expect(await database.transaction(tx => appendRepeats(tx))).toBe(0);
    await database.query({
      text: `update book_counted set first_at = now() - interval '61 seconds' where agent_id = 2`,
    });
    expect(await database.transaction(tx => appendRepeats(tx))).toBe(1);
    expect((await eventsOf(2)).map(({ body }) => body.count)).toEqual([...times('', SINGLES).map(() => undefined), 10]);
  });

  it('are events again in the next hour of the database, and hours that are over are forgotten', async () => {
    await bookWithRows(3, 1);
    await replayed(...times('task_3_1', 25));
    await hourPassed(3);
    await replayed(...times('task_3_1', 25));
    expect(await countsOf(3)).toEqual([50]);
    expect(await eventsOf(3)).toHaveLength(2 * SINGLES);
    await hourPassed(3);
    await forgetHours(database);
    const left = { text: 'select 1 from book_replay_hour where agent_id = 3' };
    expect(await database.query(left)).toEqual([]);
    await replayed('task_3_1');
    expect(await eventsOf(3)).toHaveLength(2 * SINGLES + 1);
    expect(await countsOf(3)).toEqual([51]);
  });

  it('of a receipt that is on no book leave nothing', async () => {
    await database.transaction(tx => collectAll(tx, [collection(null, 77)]));
    const text = `select (select count(*) from book_event) as events, (select count(*) from book_replay_hour) as hours,
      (select count(*) from book_counted) as counted`;
    const before = await database.query({ text });
    await replayed(...times('task_0_77', 64));
    expect(await database.query({ text })).toEqual(before);
  });

  it('beyond the twentieth wait for no head, and wake nobody', async () => {
    await bookWithRows(4, 1);
    await replayed(...times('task_4_1', SINGLES));
    const before = await headOf(4);
    const holder = await database.connect();
    try {
      await holder.query('begin');
      await holder.query('select 1 from book where agent_id = 4 for update');
      await replayed(...times('task_4_1', 64));
    } finally {
      await holder.end();
    }
    expect(await headOf(4)).toEqual(before);
    expect(await countsOf(4)).toEqual([SINGLES + 64]);
  });
});

describe('fifteen hundred replays at once from three processes', () => {
  it('leave twenty events and one that counts the others, and the count is true before and after', async () => {
    await bookWithRows(11, 1);
    const run = async (tx: Tx, task_ids: readonly string[]) => {
      await replay(tx, task_ids);
      return task_ids.map(() => undefined);
    };
    const queues = [1, 2, 3].map(() => new GroupCommit<string, undefined>(database, run, 64));
    await Promise.all(Array.from({ length: 1_500 }, (_, number) => queues[number % 3]?.submit('task_11_1')));
    expect(await countsOf(11)).toEqual([1_500]);
    expect(await eventsOf(11)).toHaveLength(SINGLES);
    // Three processes run the periodic task at once. Only one of them takes each counter.
    await Promise.all([appendDueRepeats(), appendDueRepeats(), appendDueRepeats()]);
    expect((await eventsOf(11)).slice(SINGLES).map(({ body }) => body.count)).toEqual([1_480]);
    expect(await countsOf(11)).toEqual([1_500]);
    await auditBooks(database);
  });
});

describe('any interleaving of replays, rounds and hours', () => {
  it('keeps the count equal to the number of replays, the events within their bound and the chain whole', async () => {
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('replay' as const),
        row: fc.constantFrom(1, 2),
        times: fc.integer({ min: 1, max: 30 }),
      }),
      fc.constant({ kind: 'told' } as const),
      fc.constant({ kind: 'hour' } as const),
    );
    let agent = 100;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 16 }), async steps => {
        const book = ++agent;
        await bookWithRows(book, 2);
        const replays = [0, 0];
        let hours = 1;
        for (let at = 0; at < steps.length; at += 4) {
          const together = steps.slice(at, at + 4).map(async taken => {
            if (taken.kind === 'told') return void (await appendDueRepeats());
            if (taken.kind === 'hour') return;
            replays[taken.row - 1] = (replays[taken.row - 1] ?? 0) + taken.times;
            await replayed(...times(`task_${book}_${taken.row}`, taken.times));
          });
          await Promise.all(together);
          if (steps.slice(at, at + 4).some(({ kind }) => kind === 'hour')) {
            await hourPassed(book);
            hours++;
          }
          expect(await countsOf(book)).toEqual(replays);
        }
        const singles = (await eventsOf(book)).filter(({ body }) => body.count === undefined).length;
        expect(singles).toBeLessThanOrEqual(2 * SINGLES * hours);
      }),
      { numRuns: 12 },
    );
    await auditBooks(database);
  });
});

describe('a process that is killed while counts become events', () => {
  it('leaves them counted, and another tells them once', async () => {
    await appendDueRepeats();
    await bookWithRows(21, 1);
    await replayed(...times('task_21_1', 50));
    const program = [...programOf('test/harness/ledger/append-and-die.child.ts'), database.url];
    const dying = spawn(process.execPath, program, { stdio: ['ignore', 'ignore', 'inherit'] });
    const [, signal] = await once(dying, 'exit');
    expect(signal).toBe('SIGKILL');
    expect(await countsOf(21)).toEqual([50]);
    expect(await eventsOf(21)).toHaveLength(SINGLES);
    await expect.poll(appendDueRepeats).toBe(1);
    expect((await eventsOf(21)).slice(SINGLES).map(({ body }) => body.count)).toEqual([30]);
    expect(await countsOf(21)).toEqual([50]);
    await auditBooks(database);
  });
});
