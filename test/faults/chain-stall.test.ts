import { decodePaymentResponseHeader } from '@x402/core/http';
import { expect, it } from 'vitest';
import { audit } from '../harness/faults/audit.ts';
import { type Answer, harmless, jwsOf, nameOf, newBuyer, type Order, send } from '../harness/faults/buyer.ts';
import { claimOf } from '../harness/faults/claims.ts';
import { eventually, openGround } from '../harness/faults/ground.ts';
import { shortChainWait } from '../harness/faults/short-chain-wait.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

it('a stalled chain answers 503 and never 402; when it moves, the same payments have paid', async () => {
  const ground = await openGround();
  const [asked, other] = await Promise.all([ground.start({ options: shortChainWait }), ground.startProcess()]);
  const buyer = await newBuyer(ground);
  const newcomer = await newBuyer(ground);
  expect((await send(other, await buyer.registration())).status).toBe(200);

  await ground.chain.setAutomine(false);
  const chat = await buyer.chat('is anybody there?');
  const registration = await newcomer.registration();
  const orders = [chat, registration];
  const waiting = orders.map(order => send(asked, order));
  for (const order of orders) {
    await eventually('on its way', async () => (await claimOf(ground, order))?.state === 'settling' || null);
    expectToAskAgain(await send(other, order));
  }
  for (const answer of await Promise.all(waiting)) {
    expect(nameOf(answer)).toBe('503 settlement_pending');
    expectToAskAgain(answer);
  }
  for (const order of orders) expectToAskAgain(await send(other, order));
  expect(await ground.chain.transfers(ground.pay_to)).toHaveLength(1);

  await ground.chain.setAutomine(true);
  await ground.chain.mine();
  const paid = await askedUntilPaid(other, chat);
  expect(jwsOf(await send(asked, chat))).toBe(jwsOf(paid));
  const { body } = await askedUntilPaid(asked, registration);
  expect(body).toMatchObject({ agentWallet: newcomer.address, idempotent_replay: true });
  expect(await audit(ground)).toBe(3);
});

function askedUntilPaid(gateway: RunningService, order: Order): Promise<Answer> {
  return eventually('paid', async () => {
    const answer = await send(gateway, order);
    if (answer.status === 200) return answer;
    expectToAskAgain(answer);
    return null;
  });
}

/** Expects an answer that asks to send the same payment again: it is pending, or reconcile is checking it on the chain. */
function expectToAskAgain(answer: Answer): void {
  expect(harmless).toContain(nameOf(answer));
  expect(answer.status).not.toBe(200);
  expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(answer.headers.get('x-should-retry')).toBe('false');
  const outcome = decodePaymentResponseHeader(answer.headers.get('x-payment-response') ?? '');
  expect(outcome).toMatchObject({ success: false, errorReason: 'settlement_pending', network: 'base' });
}
