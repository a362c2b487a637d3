import { beforeAll, describe, expect, it } from 'vitest';
import { atomicAmount } from '../../../../schema/amount.ts';
import { agentId } from '../../../../schema/ids.ts';
import { limits } from '../../../../schema/limits.ts';
import { parsePolicy } from '../../../../schema/requests/policy.ts';
import { type BlockedTooOften } from '../../../../subgraphs/book/ledger/block.ts';
import { BlockedCalls } from '../../../../subgraphs/book/ledger/blocked-calls.ts';
import { appendRepeats, countRepeats, forgetHours } from '../../../../subgraphs/book/ledger/repeated-events.ts';
import { refusedTooOften, reserve, voidReservations } from '../../../../subgraphs/book/ledger/reserve.ts';
import { setBudget, setPolicy } from '../../../../subgraphs/book/policy/set.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { txOf } from '../../../harness/database.ts';
import { auditBooks } from '../../../harness/faults/audit-books.ts';
import { auditRefusals } from '../../../harness/faults/audit-refusals.ts';
import { refuser, reservationFor, withBooks } from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

const ROWS = limits.blocked_rows_per_hour_max;

let database: Database;
beforeAll(async () => {
  database = await freshStore({ mid_hour: true });
});

let task = 0;
const set = (agent: number, policy_type: string, value: string | boolean | null) =>
  setPolicy(database, agentId(agent), parsePolicy(policy_type, value));
const calls = (agent: number, count: number, intent_id: string | null = null) =>
  Array.from({ length: count }, () => reservationFor(agent, ++task, { intent_id }));
const reserved = (...items: ReturnType<typeof reservationFor>[]) =>
  database.transaction(tx => reserve(tx, refuser, items));
const looked = (...items: ReturnType<typeof reservationFor>[]) =>
  database.transaction(tx => refusedTooOften(tx, items));

async function counted(outcomes: Promise<readonly { kind: string }[]>): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const { kind } of await outcomes) found[kind] = (found[kind] ?? 0) + 1;
  return found;
}

function tooOften(outcome: { kind: string } | null | undefined): BlockedTooOften {
  if (outcome?.kind !== 'blocked_too_often') throw new Error(`it is ${outcome?.kind}`);
  return outcome as BlockedTooOften;
}

async function killed(agent: number): Promise<void> {
  await withBooks(database, agent);
  await set(agent, 'kill_switch', true);
}

const head = async (agent: number) =>
  (await database.query({ text: 'select *, xmin from book where agent_id = $1', values: [agent] }))[0];

describe('calls that a book goes on refusing', () => {
  it('have twenty rows an hour with refusals of their own, and beyond these none', async () => {
    await killed(1);
    expect(await counted(reserved(...calls(1, ROWS - 1)))).toEqual({ blocked: ROWS - 1 });
    const [last, first_beyond] = await reserved(...calls(1, 2));
    if (last?.kind !== 'blocked') throw new Error('the twentieth has a row');
    const before = await head(1);
    expect(before).toMatchObject({ seq: ROWS, position: ROWS + 1 });
    for (const beyond of [first_beyond, ...(await reserved(...calls(1, 3)))]) {
      const { last_refusal_id, seq, policy_code, retry_after_seconds } = tooOften(beyond);
      expect({ last_refusal_id, seq, policy_code }).toEqual({
        last_refusal_id: last.refusal_id,
        seq: ROWS,
        policy_code: 'kill_switch',
      });
      expect(retry_after_seconds).toBeGreaterThan(0);
      expect(retry_after_seconds).toBeLessThanOrEqual(3_600);
    }
    // The head of the book was not written either.
    expect(await head(1)).toEqual(before);
  });

  it('are counted by intent and by policy, each for itself', async () => {
    await killed(2);
    const outcomes = await counted(reserved(...calls(2, 25, 'one'), ...calls(2, 25), ...calls(2, 3, 'two')));
    expect(outcomes).toEqual({ blocked: 2 * ROWS + 3, blocked_too_often: 10 });
    await set(2, 'kill_switch', null);
    await set(2, 'daily_cap', '1');
    expect(await counted(reserved(...calls(2, ROWS + 1, 'one')))).toEqual({ blocked: ROWS, blocked_too_often: 1 });
  });

  it('have two hundred rows an hour in all, under however many intents', async () => {
    await killed(20);
    const most = limits.blocked_rows_per_book_hour_max;
    const each = Array.from({ length: most + 15 }, (_, index) => calls(20, 1, `intent ${index}`)).flat();
    expect(await counted(reserved(...each.slice(0, 60)))).toEqual({ blocked: 60 });
    expect(await counted(reserved(...each.slice(60)))).toEqual({ blocked: most - 60, blocked_too_often: 15 });
    const [seen] = await looked(...calls(20, 1, 'yet another'));
    expect(tooOften(seen)).toMatchObject({ seq: most, policy_code: 'kill_switch' });
    expect(await head(20)).toMatchObject({ seq: most });
  });

  it('begin anew where their owner has set policy or budget, and pass at once where that lets them', async () => {
    await killed(3);
    expect(await counted(reserved(...calls(3, 30)))).toEqual({ blocked: ROWS, blocked_too_often: 10 });
    await setBudget(database, agentId(3), atomicAmount(1n));
    expect(await counted(reserved(...calls(3, 30)))).toEqual({ blocked: ROWS, blocked_too_often: 10 });
    await set(3, 'kill_switch', null);
    await setBudget(database, agentId(3), null);
    expect(await looked(...calls(3, 1))).toEqual([null]);
    const [passing] = calls(3, 1);
    if (!passing) throw new Error('there is one');
    expect(await counted(reserved(passing))).toEqual({ reserved: 1 });
    await database.transaction(tx => voidReservations(tx, [passing]));
  });

  it('have rows again in the next hour, and hours that are over are forgotten', async () => {
    await killed(4);
    await reserved(...calls(4, 25));
    await database.query({ text: `update book_blocked_hour set hour = hour - interval '1 hour' where agent_id = 4` });
    expect(await counted(reserved(...calls(4, 25)))).toEqual({ blocked: ROWS, blocked_too_often: 5 });
    await forgetHours(database);
    const hours = await database.query({ text: 'select rows from book_blocked_hour where agent_id = 4' });
    expect(hours).toEqual([{ rows: ROWS }, { rows: ROWS }]);
    expect(await counted(reserved(...calls(4, 1)))).toEqual({ blocked_too_often: 1 });
  });

  it('are bounded together by however many processes ask at once', async () => {
    await killed(5);
    const batches = Array.from({ length: 12 }, () => reserved(...calls(5, 10)));
    const outcomes = (await Promise.all(batches)).flat();
    expect(await counted(Promise.resolve(outcomes))).toEqual({ blocked: ROWS, blocked_too_often: 100 });
    await auditBooks(database);
    await auditRefusals(database);
  });
});

describe('a look without locks', () => {
  it('says the same, though another transaction holds the book', async () => {
    await killed(11);
    await reserved(...calls(11, ROWS));
    const holder = await database.connect();
    try {
      await holder.query('begin');
      await reserve(txOf(holder), refuser, calls(11, 1));
      const [found] = await looked(...calls(11, 1));
      expect(tooOften(found).seq).toBe(ROWS);
    } finally {
      await holder.end();
    }
  });

  it('has no word on a call that may pass, may have a row, or is owed', async () => {
    await killed(12);
    await withBooks(database, 13);
    await reserved(...calls(12, ROWS - 1));
    const [owed] = calls(12, 1);
    if (!owed) throw new Error('there is one');
    expect(await looked(...calls(12, 1), ...calls(13, 1), { ...owed, owed: true })).toEqual([null, null, null]);
  });
});

describe('what is counted of them', () => {
  it('becomes one event of their last row, and no event that stands changes', async () => {
    await killed(21);
    const blocked_calls = new BlockedCalls();
    const outcomes = await reserved(...calls(21, ROWS + 280));
    for (const outcome of outcomes) if (outcome.kind === 'blocked_too_often') blocked_calls.count(outcome);
    const events = () => database.query({ text: 'select * from book_event where agent_id = 21 order by position' });
    const chained = await events();
    const counts = blocked_calls.take();
    // Counts in two parts, as two processes or two rounds would.
    await database.transaction(async tx => countRepeats(tx, counts));
    await database.transaction(async tx =>
      countRepeats(
        tx,
        counts.map(it => ({ ...it, count: 1 })),
      ),
    );
    expect(await database.transaction(tx => appendRepeats(tx, 0))).toBe(1);
    const after = await events();
    expect(after.slice(0, -1)).toEqual(chained);
    const last = outcomes[ROWS - 1];
    if (last?.kind !== 'blocked') throw new Error('the twentieth has a row');
    expect(after.at(-1)).toMatchObject({
      kind: 'blocked',
      seq: ROWS,
      position: ROWS + 2,
      body: { count: 281, policy_code: 'kill_switch', refusal_id: last.refusal_id },
    });
    expect(await head(21)).toMatchObject({ seq: ROWS, position: ROWS + 2 });
  });

  it('comes back where it could not be written down, and is handed over once', () => {
    const blocked_calls = new BlockedCalls(() => 0);
    const outcome = (at_ms: number): BlockedTooOften => ({
      kind: 'blocked_too_often',
      agent_id: agentId(1),
      seq: 20,
      task_id: 'task',
      policy_code: 'kill_switch',
      last_refusal_id: 'ref' as BlockedTooOften['last_refusal_id'],
      retry_after_seconds: 9,
      at_ms,
    });
    blocked_calls.count(outcome(1_000));
    blocked_calls.count(outcome(3_000));
    const taken = blocked_calls.take();
    expect(blocked_calls.take()).toEqual([]);
    blocked_calls.count(outcome(2_000));
    blocked_calls.giveBack(taken);
    expect(blocked_calls.take()).toEqual([
      expect.objectContaining({ count: 3, first_at: '1970-01-01T00:00:01.000Z', last_at: '1970-01-01T00:00:03.000Z' }),
    ]);
  });

  it('makes a book worth a look until its hour ends, or its policy lets a call pass', () => {
    let now_ms = 0;
    const blocked_calls = new BlockedCalls(() => now_ms);
    const outcome = { agent_id: agentId(1), retry_after_seconds: 2, at_ms: 0 } as BlockedTooOften;
    expect(blocked_calls.suspects(1)).toBe(false);
    blocked_calls.count(outcome);
    expect(blocked_calls.suspects(1)).toBe(true);
    now_ms = 2_000;
    expect(blocked_calls.suspects(1)).toBe(false);
    blocked_calls.count(outcome);
    blocked_calls.acquit(1);
    expect(blocked_calls.suspects(1)).toBe(false);
  });
});
