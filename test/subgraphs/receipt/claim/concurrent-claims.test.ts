import { beforeAll, describe, expect, it } from 'vitest';
import type { Database, Tx } from '../../../../subgraphs/database.ts';
import { type Lease } from '../../../../subgraphs/receipt/claim/claim.ts';
import { renewLease } from '../../../../subgraphs/receipt/claim/lease.ts';
import {
  abandonClaim,
  beginSettling,
  markRecorded,
  type SettlingClaim,
} from '../../../../subgraphs/receipt/claim/transitions.ts';
import { claim, claimRequest, OWNER, stateOf } from '../../../harness/claim/fixture.ts';
import { txOf } from '../../../harness/database.ts';
import { freshStore } from '../../../harness/store.ts';

/* Two transactions move the same claims at the same time. The second waits for the first and decides by what it left. */

let database: Database;
beforeAll(async () => {
  database = await freshStore();
  await database.transaction(tx => renewLease(tx, OWNER));
});

async function claimed(...claim_keys: string[]): Promise<Lease[]> {
  const outcomes = await claim(database, ...claim_keys.map(key => claimRequest(key)));
  return outcomes.map(outcome => {
    if (outcome.kind !== 'claimed') throw new Error(outcome.kind);
    return outcome.lease;
  });
}

const settlingBy = (lease: Lease, settlement_id: string): SettlingClaim => ({
  ...lease,
  settlement_id,
  from_block: 1,
  answer_box: null,
  worked: {},
});
const settle = (tx: Tx, leases: readonly Lease[]) =>
  beginSettling(
    tx,
    leases.map(lease => settlingBy(lease, 'A')),
  );

const WAITING = `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
const somebodyWaits = () =>
  expect.poll(async () => (await database.query<{ n: number }>({ text: WAITING }))[0]?.n).toBeGreaterThan(0);

/** Runs `second` while the transaction of `first` is open. Ends `first` once `second` waits for it. */
async function meeting<T>(
  first: (tx: Tx) => Promise<unknown>,
  second: (tx: Tx) => Promise<T>,
  end: 'commit' | 'rollback',
): Promise<T> {
  const client = await database.connect();
  try {
    await client.query('begin');
    await first(txOf(client));
    const waiting = database.transaction(second);
    waiting.catch(() => {});
    await somebodyWaits();
    await client.query(end);
    return await waiting;
  } finally {
    await client.end();
  }
}

describe('a claim that is let go of while it is to settle', () => {
  it('does not settle', async () => {
    const [lease, other] = (await claimed('gone', 'stays')) as [Lease, Lease];
    const moved = await meeting(
      tx => abandonClaim(tx, lease, 'test', true),
      tx => settle(tx, [other, lease]),
      'commit',
    );
    expect([...moved]).toEqual(['stays']);
    expect(await stateOf(database, 'gone')).toBe('released');
  });

  it('settles where that is taken back', async () => {
    const [lease] = (await claimed('back')) as [Lease];
    const moved = await meeting(
      tx => abandonClaim(tx, lease, 'test', true),
      tx => settle(tx, [lease]),
      'rollback',
    );
    expect([...moved]).toEqual(['back']);
    expect(await stateOf(database, 'back')).toBe('settling');
  });
});

describe('a claim that is taken over while it is to be recorded', () => {
  it('is not recorded, nor any other of its batch', async () => {
    const leases = (await claimed('taken', 'whole')) as [Lease, Lease];
    await database.transaction(tx => settle(tx, leases));
    const takeOver = { text: `update payment_claim set lease_epoch = lease_epoch + 1 where claim_key = 'taken'` };
    const recording = meeting(
      tx => tx.query(takeOver),
      tx => markRecorded(tx, leases),
      'commit',
    );
    await expect(recording).rejects.toThrow();
    expect([await stateOf(database, 'taken'), await stateOf(database, 'whole')]).toEqual(['settling', 'settling']);
  });
});

describe('batches of the same claims in opposite orders', () => {
  it('wait for each other, and never in a circle', async () => {
    const keys = Array.from({ length: 40 }, (_, index) => `circle ${index}`);
    const leases = await claimed(...keys);
    const reversed = [...leases].reverse();
    const move = (batch: readonly Lease[], settlement_id: string) =>
      database.transaction(tx =>
        beginSettling(
          tx,
          batch.map(lease => settlingBy(lease, settlement_id)),
          ['A', 'B'],
        ),
      );
    for (let round = 0; round < 25; round++) {
      const moved = await Promise.all([move(leases, 'A'), move(reversed, 'B'), move(leases, 'B'), move(reversed, 'A')]);
      expect(moved.map(({ size }) => size)).toEqual([40, 40, 40, 40]);
    }
    await Promise.all([database.transaction(tx => markRecorded(tx, reversed)), move(leases, 'A').catch(() => {})]);
    expect(await stateOf(database, 'circle 7')).toBe('recorded');
  });
});
