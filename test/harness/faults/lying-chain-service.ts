import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { startLyingChain } from '../lying-chain.ts';
import { audit } from './audit.ts';
import { type Answer, nameOf, newBuyer, send } from './buyer.ts';
import { claimOf } from './claims.ts';
import { eventually, openGround } from './ground.ts';
import { shortChainWait } from './short-chain-wait.ts';

/** A service whose only node gives false answers about its chain when a test requires it. */
export async function openLyingChainService() {
  const ground = await openGround();
  const node = await startLyingChain(ground.chain.rpc_url);
  const environment = { BASE_RPC_URL: node.url };
  const gateway = await ground.start({ environment, options: shortChainWait });
  const buyer = await newBuyer(ground);
  const registration = await buyer.registration();
  await eventually('registered', async () => (await send(gateway, registration)).status === 200 || null);
  const receipts = async () => (await ground.database.query({ text: 'select 1 from receipt' })).length;
  const transfers = async () => (await ground.chain.transfers(ground.pay_to)).length;
  return {
    ground,
    node,
    gateway,
    buyer,
    transfers,
    /**
     * Makes a paid call for which the node does not report the outcome after the broadcast. Every repetition of the call must be answered
     * that it should wait, and nothing may be recorded. Once the node reports the truth, the call must get its answer, and there must be
     * one transfer.
     */
    async expectPatience(prompt: string, begin: () => void): Promise<void> {
      const before = { receipts: await receipts(), transfers: await transfers() };
      const order = await buyer.chat(prompt);
      node.after('eth_sendRawTransaction', begin);
      expect(nameOf(await send(gateway, order))).toBe('503 settlement_pending');
      expect(await transfers()).toBe(before.transfers + 1);
      // Long enough for reconcile to query the node as well.
      for (let asked = 0; asked < 3; asked++) {
        expectToWait(await send(gateway, order));
        await sleep(400);
      }
      expect(await receipts()).toBe(before.receipts);
      expect((await claimOf(ground, order))?.state).toBe('settling');

      node.tellTruth();
      await eventually('the answer', async () => {
        const again = await send(gateway, order);
        if (again.status !== 200) expectToWait(again);
        return again.status === 200 || null;
      });
      expect(await receipts()).toBe(before.receipts + 1);
      expect(await audit(ground)).toBe(before.transfers + 1);
    },
  };
}

function expectToWait(answer: Answer): void {
  expect(['503 settlement_pending', '409 payment_in_flight']).toContain(nameOf(answer));
  expect(answer.body).not.toHaveProperty('charged');
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
}
