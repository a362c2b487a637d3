import { beforeAll, expect, it } from 'vitest';
import { correctLeg, type HeldLeg, keepLeg, type MovedLeg } from '../../../../gateway/call/held-leg.ts';
import { transferSlot } from '../../../../schema/observed-transfer.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { claimOfSlot } from '../../../../subgraphs/receipt/claim/held-leg.ts';
import { LEG } from '../../../../subgraphs/receipt/claim/slots.ts';
import { claimByKey } from '../../../../subgraphs/receipt/claim/transitions.ts';
import { claim, claimRequest, heldLease, startSettling } from '../../../harness/claim/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

let database: Database;
beforeAll(async () => {
  database = await freshStore();
});

const slotOf = (transaction: string) => transferSlot({ network: 'base', transaction, index: 0 });
const transferred = (tx_hash: string) => ({ kind: 'transferred', tx_hash, transfer_index: 0 }) as never;
const vanished = { kind: 'not_transferred', reason: 'expired' } as const;

/** A first payment that is held, and the notices that its job has received since. */
async function kept(name: string) {
  const slot = `${LEG}job:${name}`;
  const authorization = { network: 'base', payer: '0xpayer', pay_to: '0xwinner', amount_atomic: '2000' };
  const signature = { kind: 'contract', bytes: '0x', deploy: null };
  const request = claimRequest(name, { slots: [slot], authorization: { ...authorization, signature } });
  const lease = heldLease((await claim(database, request))[0]);
  await startSettling(database, lease);
  const told: unknown[] = [];
  const paid = {
    onHold: (_tx: unknown, _args: unknown, { payment_ref }: { payment_ref: string }) => told.push(payment_ref),
    onRelease: () => told.push('lost'),
    second_slot: () => `second:${name}`,
  } as unknown as HeldLeg['paid'];
  const { task_id } = request;
  const moved = { paid, args: {}, task_id, lease, authorization, transfer: transferred(`0x${name}`) };
  await keepLeg({ database, faults: null }, moved as unknown as MovedLeg);
  return {
    slot,
    told,
    correct: async (decision: Parameters<typeof correctLeg>[2]) => {
      const standing = await claimByKey(database, name);
      if (standing === null) throw new Error(`${name} is gone`);
      return database.transaction(tx => correctLeg(tx, { paid, args: {}, claim: standing }, decision));
    },
  };
}

it('what stands where it was seen is left as it is', async () => {
  const { told, correct } = await kept('stands');
  expect(await correct(transferred('0xstands'))).toBe(true);
  expect(told).toEqual(['base:0xstands']);
});

it('what another transaction has moved is held as that, whose slot it takes, and its job is told', async () => {
  const { told, correct } = await kept('moved');
  expect(await correct(transferred('0xanother'))).toBe(true);
  expect(told).toEqual(['base:0xmoved', 'base:0xanother']);
  expect(await claimOfSlot(database, slotOf('0xmoved'))).toBeNull();
  expect(await claimOfSlot(database, slotOf('0xanother'))).toMatchObject({
    claimKey: 'moved',
    heldTransfer: { transaction: '0xanother' },
  });
});

it('what never moved is let go of for good, with all that it held', async () => {
  const { slot, told, correct } = await kept('lost');
  expect(await correct(vanished)).toBe(true);
  expect(told).toEqual(['base:0xlost', 'lost']);
  const ended = { state: 'released', final: true, reason: 'settlement_vanished' };
  expect(await claimByKey(database, 'lost')).toMatchObject(ended);
  for (const free of [slot, slotOf('0xlost')]) expect(await claimOfSlot(database, free)).toBeNull();
  expect(await correct(vanished)).toBe(false);
});

it('what moved in a transfer that stands on a book already is let go of as that', async () => {
  const { told, correct } = await kept('ingested');
  await claim(database, claimRequest('ingests', { slots: [slotOf('0xstood')] }));
  expect(await correct(transferred('0xstood'))).toBe(true);
  expect(told).toEqual(['base:0xingested', 'lost']);
  const ended = { state: 'released', final: true, reason: 'recorded_elsewhere' };
  expect(await claimByKey(database, 'ingested')).toMatchObject(ended);
  expect(await claimOfSlot(database, slotOf('0xstood'))).toMatchObject({ claimKey: 'ingests' });
});

it('while its sibling is under way nothing is changed about it', async () => {
  const { told, correct } = await kept('waits');
  await claim(database, claimRequest('sibling', { slots: ['second:waits'] }));
  for (const decision of [vanished, transferred('0xelsewhere')]) expect(await correct(decision)).toBe(false);
  expect(told).toEqual(['base:0xwaits']);
  expect(await claimByKey(database, 'waits')).toMatchObject({
    state: 'held',
    heldTransfer: { transaction: '0xwaits' },
  });
});
