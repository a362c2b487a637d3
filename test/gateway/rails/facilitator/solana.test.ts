import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ask, CHAT, type ChallengeBody, type Chat } from '../../../harness/doors/open-service.ts';
import { honest, startFacilitator, type TestFacilitator } from '../../../harness/facilitator.ts';
import { openSolanaService, type SolanaService } from '../../../harness/solana/open-service.ts';

/* A facilitator that settles on Solana too, with its own fee payer. */

let service: SolanaService;
let facilitator: TestFacilitator;
beforeAll(async () => {
  const svm_url = () => service.svm.rpc_url;
  facilitator = await startFacilitator({ rpc_url: () => service.chain.rpc_url, svm_url });
  service = await openSolanaService({ FACILITATOR_URL: facilitator.url, FACILITATOR_KEYS: '' });
});
beforeEach(() => facilitator.behave(honest));

/** Sends the payment until it is answered; every answer before that must ask to send it again. */
async function answered(payment: Awaited<ReturnType<SolanaService['paymentOnSolana']>>, question: string) {
  const heard = { status: 0, code: '' };
  const ask_again = async () => {
    const { status, body } = await service.post<Chat & { code?: string }>(CHAT, ask(question), payment);
    Object.assign(heard, { status, code: body.code });
    if (status !== 200) expect(body.code).toMatch(/^(settlement_pending|payment_in_flight)$/);
    return status;
  };
  await expect.poll(ask_again, { interval: 500 }).toBe(200);
}

describe('POST /v1/chat/completions by a facilitator on Solana', () => {
  it('200: its fee payer stands in the offer, and the transaction in the receipt', async () => {
    const payer = await service.svm.newWallet();
    const { status, body } = await service.buyOnSolana(payer, ask('By another'));
    const [moved, ...more] = await service.movedFrom(payer);
    expect({ status, more }).toEqual({ status: 200, more: [] });
    expect(JSON.stringify(body.svc)).toContain(`"ref":"solana:${moved?.signature}"`);
  });

  it('503 settlement_pending where it falls silent, then 200 by the same payment: the chain says that it moved', async () => {
    const payer = await service.svm.newWallet();
    const payment = await service.paymentOnSolana(payer);
    facilitator.behave({ settles: true, reply: { kind: 'hang_up' } });
    await answered(payment, 'Silent');
    expect(await service.movedFrom(payer)).toHaveLength(1);
  });

  it('402 where it will not take the payment: nothing is charged', async () => {
    const payer = await service.svm.newWallet();
    const payment = await service.paymentOnSolana(payer);
    const text = JSON.stringify({ isValid: false, invalidReason: 'invalid_payload' });
    facilitator.behave({ ...honest, verifies: { kind: 'text', text } });
    const { status, body } = await service.post<ChallengeBody>(CHAT, ask('No'), payment);
    expect({ status, error: body.error }).toEqual({ status: 402, error: 'invalid_payload' });
    expect(await service.movedFrom(payer)).toEqual([]);
  });

  it('503 settlement_pending where it names a transaction that is none of ours; the payment is found all the same', async () => {
    const [other, payer] = [await service.svm.newWallet(), await service.svm.newWallet()];
    await service.buyOnSolana(other, ask('First'));
    const [moved] = await service.movedFrom(other);
    const payment = await service.paymentOnSolana(payer);
    facilitator.behave({ settles: true, reply: { kind: 'success', transaction: moved?.signature ?? '' } });
    await answered(payment, 'Wrong name');
    const [own] = await service.movedFrom(payer);
    const { body } = await service.post<Chat>(CHAT, ask('Wrong name'), payment);
    expect(JSON.stringify(body.svc)).toContain(`solana:${own?.signature}`);
  });
});
