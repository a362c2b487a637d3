import { beforeAll, expect, it } from 'vitest';
import { keepLeg, type MovedLeg } from '../../../../gateway/call/held-leg.ts';
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

const slot = `${LEG}job:a`;

/** A first payment whose money has moved in that transaction, and the notices that its job has received. */
async function moved(claim_key: string, tx_hash: string) {
  const request = claimRequest(claim_key, { slots: [slot] });
  const lease = heldLease((await claim(database, request))[0]);
  await startSettling(database, lease);
  const told: string[] = [];
  const leg = {
    paid: { onHold: (_tx: unknown, _args: unknown, { task_id }: { task_id: string }) => told.push(task_id) },
    args: {},
    task_id: request.task_id,
    lease,
    authorization: { network: 'base', payer: request.payer, pay_to: '0xwinner', amount_atomic: request.amount_atomic },
    transfer: { kind: 'transferred', tx_hash, transfer_index: 0 },
  } as unknown as MovedLeg;
  return { leg, told };
}

it('a first payment is held with its transfer, and its job is told', async () => {
  const { leg, told } = await moved('moves', '0xaa');
  await keepLeg({ database, faults: null }, leg);
  expect(await claimOfSlot(database, slot)).toMatchObject({ claimKey: 'moves', state: 'held' });
  expect(told).toEqual([leg.task_id]);
  await database.query({ text: `delete from claim_slot where slot = $1`, values: [slot] });
});

it('one whose transfer stands on a book already is let go of for good, and its job wants another', async () => {
  const place = { network: 'base', transaction: '0xbb', index: 0 } as const;
  const ingested = heldLease((await claim(database, claimRequest('ingests', { slots: [transferSlot(place)] })))[0]);
  const { leg, told } = await moved('moves late', '0xbb');
  await expect(keepLeg({ database, faults: null }, leg)).rejects.toThrow('0xbb stands on a book already');
  expect(told).toEqual([]);
  expect(await claimOfSlot(database, slot)).toBeNull();
  expect(await claimByKey(database, 'moves late')).toMatchObject({
    state: 'released',
    final: true,
    reason: 'recorded_elsewhere',
  });
  expect(await claimOfSlot(database, transferSlot(place))).toMatchObject({ claimKey: ingested.claim_key });
});
