import { beforeAll, describe, expect, it } from 'vitest';
import { openQueues } from '../../../gateway/call/claim/queues.ts';
import { outcomeOfClaim, submitClaim, unclaimed } from '../../../gateway/call/claim/take.ts';
import { atomicAmount } from '../../../schema/amount.ts';
import { agentId } from '../../../schema/ids.ts';
import { parsePolicy } from '../../../schema/requests/policy.ts';
import { answerApproval } from '../../../subgraphs/book/approval/answer.ts';
import { findApprovals } from '../../../subgraphs/book/approval/find.ts';
import { BlockedCalls } from '../../../subgraphs/book/ledger/blocked-calls.ts';
import { setPolicy } from '../../../subgraphs/book/policy/set.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { DatabaseAway } from '../../../subgraphs/outage.ts';
import { identifierSlot } from '../../../subgraphs/receipt/claim/identifier.ts';
import { claim, claimRequest } from '../../harness/claim/fixture.ts';
import { refuser, withBooks } from '../../harness/ledger/fixture.ts';
import { freshStore } from '../../harness/store.ts';

const AGENT = agentId(1);
const PRICE = atomicAmount(2000n);
const call = { field: 'Mutation.createChatCompletion', model: null, models: [], intent_id: null, attempt_index: null };

let database: Database;
let parts: Parameters<typeof submitClaim>[0];
beforeAll(async () => {
  database = await freshStore();
  await withBooks(database, 1);
  await setPolicy(database, AGENT, parsePolicy('tier2_above', '1999'));
  const queues = openQueues({ database, faults: null }, { refuser, blocked_calls: new BlockedCalls() });
  parts = { database, queues } as unknown as typeof parts;
});

async function buy(claim_key: string) {
  const bound = { request_hash: 'a'.repeat(64), amount_atomic: PRICE, landing: { paid_from_mark: 'm' } };
  const means = { balance_atomic: 10n ** 12n, moved: [] };
  const { outcome } = await submitClaim(
    parts,
    { paid: null as never, rail: null as never },
    {
      request: claimRequest(claim_key, { ...bound, means }),
      book: AGENT,
      holds_atomic: PRICE,
      sealText: () => Buffer.alloc(0),
      call: { ...call, parent_ref: null },
    },
  );
  return outcome;
}

async function rows(): Promise<number> {
  const [found] = await database.query<{ n: number }>({ text: 'select count(*)::int as n from book_row' });
  return found?.n ?? 0;
}

describe('a call that a person has approved, and another policy refuses', () => {
  it('hears that refusal, with one row of each payment, however often it comes', async () => {
    expect((await buy('first')).kind).toBe('blocked');
    const [found] = await findApprovals(database, { agent_id: AGENT, limit: 1 });
    await database.transaction(tx => answerApproval(tx, found as never, { decision: 'approve', by: 'wallet' }));
    await setPolicy(database, AGENT, parsePolicy('kill_switch', true));
    const before = await rows();
    const heard: unknown[] = [];
    for (const key of ['second', 'second', 'second', 'first', 'first']) heard.push(await buy(key));
    const [one, , , another] = heard;
    expect(one).toMatchObject({ kind: 'blocked' });
    expect(another).toMatchObject({ kind: 'blocked' });
    expect(heard).toEqual([one, one, one, another, another]);
    expect(await rows()).toBe(before + 2);
  });

  it('passes once that policy is gone, with another payment', async () => {
    await setPolicy(database, AGENT, parsePolicy('kill_switch', null));
    expect((await buy('third')).kind).toBe('claimed');
    expect((await buy('fourth')).kind).toBe('blocked');
  });
});

describe('a kill switch that is set after a call was admitted and before it is claimed', () => {
  it('binds, because the claim judges the policies under the lock of the book', async () => {
    await setPolicy(database, AGENT, parsePolicy('tier2_above', null));
    const waiting = `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    const untilWaiting = (count: number) =>
      expect.poll(async () => (await database.query<{ n: number }>({ text: waiting }))[0]?.n).toBe(count);
    const other = await database.connect();
    await other.query('begin');
    await other.query({ text: 'select from book where agent_id = $1 for update', values: [AGENT] });
    const set = setPolicy(database, AGENT, parsePolicy('kill_switch', true));
    await untilWaiting(1);
    // Its payment was verified and its policies allowed it until now.
    const bought = buy('admitted');
    await untilWaiting(2);
    await other.query('commit');
    await other.end();
    await set;
    expect((await bought).kind).toBe('blocked');
    await setPolicy(database, AGENT, parsePolicy('kill_switch', null));
    expect((await buy('afterwards')).kind).toBe('claimed');
  });
});

describe('a claim that the database gave no answer to', () => {
  it.each([
    ['claimed', 'not_taken'],
    ['released', 'not_taken'],
    ['settling', 'unknown_here'],
    ['recorded', 'unknown_here'],
  ])('of a payment that is %s: %s', async (state, kind) => {
    const key = `away ${state}`;
    await claim(database, claimRequest(key));
    await database.query({ text: 'update payment_claim set state = $2 where claim_key = $1', values: [key, state] });
    const respond = ((outcome: unknown) => outcome) as never;
    const away = new DatabaseAway(new Error('the connection is gone'));
    expect(await unclaimed({ database, respond }, { claim_key: key }, false, away)).toMatchObject({ kind });
  });
});

describe('a slot that another claim holds', () => {
  const named = (by?: 'idempotency_key') => identifierSlot({ network: 'base', payer: '0xp', identifier: 'one', by });

  it.each([
    [named(), { kind: 'name_in_flight', by: 'payment_identifier' }],
    [named('idempotency_key'), { kind: 'name_in_flight', by: 'idempotency_key' }],
    ['wallet:0xp', { kind: 'slot_taken' }],
  ])('%s is told by what kind of name it is', (slot, told) => {
    expect(outcomeOfClaim({ kind: 'slot_taken', slot }, null as never)).toMatchObject(told);
  });
});
