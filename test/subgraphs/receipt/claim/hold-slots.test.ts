import { beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../../subgraphs/database.ts';
import type { Lease } from '../../../../subgraphs/receipt/claim/claim.ts';
import { holdSlots } from '../../../../subgraphs/receipt/claim/held-leg.ts';
import { abandonClaim, markRecorded } from '../../../../subgraphs/receipt/claim/transitions.ts';
import { claim, claimRequest, heldLease, startSettling } from '../../../harness/claim/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

let database: Database;
beforeAll(async () => {
  database = await freshStore();
});

const claimed = async (key: string) => heldLease((await claim(database, claimRequest(key)))[0]);
const hold = (lease: Lease, ...slots: string[]) => database.transaction(tx => holdSlots(tx, lease, slots));

it('what is found while a claim is held is held by it alone, and by it as often as it asks', async () => {
  const [first, second] = [await claimed('finds first'), await claimed('finds second')];
  expect(await hold(first, 'transfer:a', 'transfer:b')).toBe('held');
  expect(await hold(first, 'transfer:a')).toBe('held');
  expect(await hold(second, 'transfer:c', 'transfer:b')).toBe('taken');
});

it('of many claims that find the same one holds it', async () => {
  const leases = await Promise.all(Array.from({ length: 20 }, (_, index) => claimed(`races ${index}`)));
  const outcomes = await Promise.all(leases.map(lease => hold(lease, 'transfer:raced')));
  expect(outcomes.filter(outcome => outcome === 'held')).toHaveLength(1);
});

it('goes with a claim that is released, and is kept by one that is recorded', async () => {
  const [lost, paid, late] = [await claimed('let go of'), await claimed('recorded'), await claimed('late')];
  await hold(lost, 'transfer:free');
  await database.transaction(tx => abandonClaim(tx, lost, 'not_believed', true));
  expect(await hold(paid, 'transfer:free')).toBe('held');
  await startSettling(database, paid);
  await database.transaction(tx => markRecorded(tx, [paid]));
  expect(await hold(late, 'transfer:free')).toBe('taken');
});

it('is nothing for a claim that another process has taken over or let go of', async () => {
  const lease = await claimed('taken over');
  expect(await hold({ ...lease, lease_epoch: lease.lease_epoch + 1 }, 'transfer:over')).toBe('lost');
  await database.transaction(tx => abandonClaim(tx, lease, 'process_ended', true));
  expect(await hold(lease, 'transfer:over')).toBe('lost');
  expect(await hold(await claimed('after it'), 'transfer:over')).toBe('held');
});
