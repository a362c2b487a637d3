import { decodePaymentResponseHeader } from '@x402/core/http';
import { expect, it } from 'vitest';
import { audit } from '../../../harness/faults/audit.ts';
import { answerTo, harmless, jwsOf, nameOf, send } from '../../../harness/faults/buyer.ts';
import { claimOf, untilClosed } from '../../../harness/faults/claims.ts';
import { eventually, openGround } from '../../../harness/faults/ground.ts';
import { shortChainWait } from '../../../harness/faults/short-chain-wait.ts';
import { newSolanaBuyer } from '../../../harness/solana/orders.ts';

it('a stalled Solana answers 503 and never 402; when it moves, the same payment has paid', async () => {
  const ground = await openGround({ solana: true });
  const [asked, other] = await Promise.all([ground.start({ options: shortChainWait }), ground.start()]);
  const svm = ground.solana?.svm;
  const buyer = await newSolanaBuyer(ground);
  const chat = await buyer.chat('is anybody there?');
  await svm?.stall();
  const waiting = send(asked, chat);
  await eventually('on its way', async () => (await claimOf(ground, chat))?.state === 'settling' || null);
  expect(harmless).toContain(nameOf(await send(other, chat)));
  const pending = await waiting;
  expect(nameOf(pending)).toBe('503 settlement_pending');
  expect(pending.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(pending.headers.get('x-should-retry')).toBe('false');
  expect(decodePaymentResponseHeader(pending.headers.get('x-payment-response') ?? '')).toEqual({
    success: false,
    errorReason: 'settlement_pending',
    // The signature of the transaction that was sent, which no block has taken yet.
    transaction: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/),
    network: 'solana',
    payer: buyer.address,
  });
  expect(await ground.solana?.svm.transfers(ground.solana.treasury)).toEqual([]);

  await svm?.stall(false);
  const paid = await eventually('paid', async () => {
    const answer = await send(other, chat);
    expect(harmless).toContain(nameOf(answer));
    return answer.status === 200 ? answer : null;
  });
  expect(jwsOf(await send(asked, chat))).toBe(jwsOf(paid));
  expect(await audit(ground)).toBe(1);
});

it('a payment whose blockhash runs out on a stalled Solana is never charged, and is said so once that is final', async () => {
  const ground = await openGround({ solana: true });
  const gateway = await ground.start({ options: shortChainWait });
  const svm = ground.solana?.svm;
  const buyer = await newSolanaBuyer(ground);
  const chat = await buyer.chat('too late');
  await svm?.stall();
  expect(nameOf(await send(gateway, chat))).toBe('503 settlement_pending');
  await svm?.drop();
  await svm?.expire();
  await svm?.finalize();
  await svm?.stall(false);
  expect(await untilClosed(ground, chat)).toMatchObject({ state: 'released' });
  expect((await send(gateway, chat)).status).toBe(402);
  expect((await answerTo(gateway, await buyer.chat('in time'))).status).toBe(200);
  expect(await audit(ground)).toBe(1);
});
