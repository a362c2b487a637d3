import { expect, it } from 'vitest';
import {
  type FacilitatorService,
  openFacilitatorService,
  registeredBuyer,
} from '../../../harness/facilitator/open-service.ts';
import { jwsOf, type Order, send } from '../../../harness/faults/buyer.ts';
import { eventually } from '../../../harness/faults/ground.ts';

/** The state of the settlement that carried the payment. */
async function settlementOf({ ground }: FacilitatorService, { claim_key }: Order): Promise<string | undefined> {
  const text = `select s.state from settlement s join payment_claim c using (settlement_id) where c.claim_key = $1`;
  const [row] = await ground.database.query<{ state: string }>({ text, values: [claim_key] });
  return row?.state;
}

it('a settlement of a facilitator is final behind the finalized block; one that the chain lost is handed over again', async () => {
  const service = await openFacilitatorService();
  const gateway = await service.startPollingFast();
  const buyer = await registeredBuyer(service, gateway);
  const { chain, database } = service.ground;
  const becomes = (order: Order, state: string) =>
    eventually(state, async () => ((await settlementOf(service, order)) === state ? true : null));

  const kept = await buyer.chat('Kept');
  expect((await send(gateway, kept)).status).toBe(200);
  expect(await settlementOf(service, kept)).toBe('mined');
  await chain.mine(5);
  await becomes(kept, 'final');

  const snapshot = await chain.call<string>('evm_snapshot');
  const lost = await buyer.chat('Lost');
  const answer = await send(gateway, lost);
  expect(answer.status).toBe(200);
  await chain.call('evm_revert', snapshot);
  expect(await service.transfersOf(lost)).toHaveLength(2);
  // A different block replaces the one that contained it, and is soon finalized.
  await chain.mine(8);
  await becomes(lost, 'sent');
  await becomes(lost, 'mined');
  expect(await service.transfersOf(lost)).toHaveLength(3);
  expect(jwsOf(await send(gateway, lost))).toBe(jwsOf(answer));

  const text = `select body->>'reason' as reason from book_event e join payment_claim c using (task_id)
    where c.claim_key = $1 and kind = 'correction'`;
  expect(await database.query({ text, values: [lost.claim_key] })).toEqual([{ reason: 'settlement_vanished' }]);
});
