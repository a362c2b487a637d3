import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from '@x402/core/http';
import type { JSONWebKeySet } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { networks } from '../../../../schema/network.ts';
import { verifyReceipt } from '../../../../subgraphs/receipt/verify/receipt.ts';
import { askToStream, listen } from '../../../harness/doors/listen.ts';
import { ask, CHAT, type ChallengeBody, REGISTER } from '../../../harness/doors/open-service.ts';
import { solanaPayingFetch } from '../../../harness/solana/buyer.ts';
import { openSolanaService, type SolanaService } from '../../../harness/solana/open-service.ts';

let service: SolanaService;
beforeAll(async () => {
  service = await openSolanaService();
});

const jwks = async () => (await service.get<JSONWebKeySet & Record<string, never>>('/.well-known/jwks.json')).body;

describe('POST /v1/chat/completions unpaid', () => {
  it('402 lists Base and Solana, v2 in the header and v1 in the body', async () => {
    const heard = await service.knock<ChallengeBody>('POST', CHAT);
    const terms = {
      scheme: 'exact',
      payTo: service.treasury,
      asset: networks.solana.usdc,
      extra: { feePayer: service.svm.fee_payer.address },
    };
    expect(heard.status).toBe(402);
    expect(heard.body.accepts).toEqual([
      expect.objectContaining({ network: 'base' }),
      expect.objectContaining({ ...terms, network: 'solana', maxAmountRequired: '2000' }),
    ]);
    const { accepts } = decodePaymentRequiredHeader(heard.headers.get('PAYMENT-REQUIRED') ?? '');
    expect(accepts).toEqual([
      expect.objectContaining({ network: networks.base.caip2 }),
      expect.objectContaining({ ...terms, network: networks.solana.caip2, amount: '2000' }),
    ]);
  });
});

describe('POST /v1/agents/register unpaid', () => {
  it('402 lists Base alone', async () => {
    const heard = await service.knock<ChallengeBody>('POST', REGISTER);
    expect(heard.status).toBe(402);
    expect(heard.body.accepts.map(({ network }) => network)).toEqual(['base']);
    const { accepts } = decodePaymentRequiredHeader(heard.headers.get('PAYMENT-REQUIRED') ?? '');
    expect(accepts.map(({ network }) => network)).toEqual([networks.base.caip2]);
  });
});

describe('POST /v1/chat/completions paid on Solana', () => {
  it.each([1, 2] as const)('200 by the official client of version %s: answer, receipt, one transfer', async version => {
    const payer = await service.svm.newWallet();
    const heard = await service.buyOnSolana(payer, ask('Hello'), {}, version);
    expect(heard.status).toBe(200);
    const { svc } = heard.body;
    const [moved, ...more] = await service.movedFrom(payer);
    expect(more).toEqual([]);
    expect(moved).toMatchObject({ from: payer.address, amount_atomic: 2000n });
    expect(svc).toMatchObject({
      payment_ref: `solana:${moved?.signature}`,
      proof_outcome: 'settled',
      settlement_status: 'settled',
      amount: '2000',
      payer_wallet: payer.address,
    });
    expect(verifyReceipt(svc as never, await jwks())).toMatchObject({ kind: 'valid' });
    const name = version === 2 ? 'PAYMENT-RESPONSE' : 'X-PAYMENT-RESPONSE';
    expect(decodePaymentResponseHeader(heard.headers.get(name) ?? '')).toMatchObject({
      success: true,
      transaction: moved?.signature,
      network: version === 2 ? networks.solana.caip2 : 'solana',
      payer: payer.address,
    });
  });

  it('200 with stream: true: pieces, and in the last a receipt that verifies', async () => {
    const payer = await service.svm.newWallet();
    const stream = await listen(service, askToStream('Flow'), { by: solanaPayingFetch(service.svm, payer.signer) });
    expect(stream.status).toBe(200);
    const heard = await stream.rest();
    expect(heard.ends_well).toBe(true);
    expect(heard.text).toContain('"Flow"');
    expect(verifyReceipt(heard.svc as never, await jwks())).toMatchObject({ kind: 'valid' });
    const moved = await service.movedFrom(payer);
    expect(moved.map(({ signature }) => `solana:${signature}`)).toEqual([heard.svc?.payment_ref]);
  });

  it('200 with a session: the row lands on its book, with its rail and reference', async () => {
    const { agent_id, session } = await service.newAgent();
    const payer = await service.svm.newWallet();
    const headers = { 'X-SVC-Session': session };
    const { status, body } = await service.buyOnSolana(payer, ask('For the book'), headers);
    expect(status).toBe(200);
    const book = await service.get<{ entries: readonly object[] }>(`/v1/agents/${agent_id}/book`, headers);
    expect(book.body.entries).toContainEqual(
      expect.objectContaining({
        task_id: body.svc.task_id,
        evidence: 'collected',
        payment: expect.objectContaining({ ref: body.svc.payment_ref, rail: 'usdc', amount: '2000' }),
      }),
    );
  });
});
