import { x402Client } from '@x402/core/client';
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http';
import type { PaymentRequired } from '@x402/core/types';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { JOBS, type JobAgent, openJobs, payoutOf, sha256 } from '../harness/board/jobs.ts';

const PRICE = 500_001n;
/** A stamp, and one per cent, rounded up. */
const FEE = 2_000n + 5_001n;

interface BookSeen {
  readonly entries: readonly (JsonObject & { readonly task_id: string })[];
  readonly totals: { readonly usdc_sum: string };
  readonly spent: string;
}

it('POST /v1/board/jobs/{id}/pay 402, 402, 200 on Solana: both payments move there once, and stand on both books', async () => {
  const jobs = await openJobs();
  const { service, poster, winner } = jobs;
  const { svm } = service;
  const [paying, paid_to] = [await svm.newWallet(), await svm.newWallet(1n)];
  const { job_id } = (await jobs.post(poster)).body;
  const payout = await payoutOf(paid_to.signer, { job_id, agent_id: winner.agent_id });
  const { bid_id } = (await jobs.bid(winner, job_id, { price: String(PRICE), payout })).body;
  expect((await jobs.step(poster, job_id, 'pick', { bid_id })).status).toBe(200);
  expect((await jobs.step(winner, job_id, 'deliver', { output_sha256: sha256('done') })).status).toBe(200);

  const client = new x402Client().register('solana:*', new ExactSvmScheme(paying.signer, { rpcUrl: svm.rpc_url }));
  const pay = (headers: Readonly<Record<string, string>> = {}) =>
    service.post<{ status: string; payout?: { task_id: string } }>(
      `${JOBS}/${job_id}/pay`,
      {},
      { ...jobs.by(poster), ...headers },
    );
  const askedBy = ({ headers }: { headers: Headers }) =>
    decodePaymentRequiredHeader(headers.get('PAYMENT-REQUIRED') ?? '') as PaymentRequired;
  const paymentOf = async (asked: PaymentRequired) => ({
    'PAYMENT-SIGNATURE': encodePaymentSignatureHeader(await client.createPaymentPayload(asked)),
  });
  const bookOf = async (who: JobAgent) =>
    (await service.get<BookSeen>(`/v1/agents/${who.agent_id}/book`, jobs.by(who))).body;

  const before = await bookOf(poster);
  const asked = await pay();
  expect([asked.status, askedBy(asked).accepts]).toMatchObject([
    402,
    [{ amount: String(PRICE), payTo: paid_to.address }],
  ]);
  const first = await paymentOf(askedBy(asked));
  const due = await pay(first);
  expect([due.status, askedBy(due).accepts]).toMatchObject([402, [{ amount: String(FEE), payTo: service.treasury }]]);
  expect((await jobs.read(job_id)).legs).toMatchObject([
    { leg: 'winner', network: 'solana', status: 'settled', payment_ref: expect.stringMatching(/^solana:/) },
    { leg: 'fee', status: 'unpaid' },
  ]);
  expect((await pay(first)).status).toBe(402);

  const second = await paymentOf(askedBy(due));
  const paid = await pay(second);
  expect(paid).toMatchObject({ status: 200, body: { status: 'paid' } });
  const task_id = paid.body.payout?.task_id ?? '';
  for (const again of [await pay(first), await pay(second), await pay()])
    expect(again).toMatchObject({ status: 200, body: { payout: { task_id } } });

  const moved = (await svm.transfers(paid_to.address)).filter(({ from }) => from === paying.address);
  expect(moved.map(({ amount_atomic }) => amount_atomic)).toEqual([PRICE]);
  expect((await service.movedFrom(paying)).map(({ amount_atomic }) => amount_atomic)).toEqual([FEE]);

  const receipt = (await service.get<JsonObject>(`/receipt/${task_id}.json`)).body;
  expect(receipt).toMatchObject({
    claim_id: poster.agent_id,
    amount: String(PRICE),
    payer_wallet: paying.address,
    legs: [
      { leg: 'payee', pay_to: paid_to.address, amount: String(PRICE) },
      { leg: 'fee', pay_to: service.treasury, amount: String(FEE) },
    ],
  });
  const after = await bookOf(poster);
  expect(BigInt(after.spent) - BigInt(before.spent)).toBe(PRICE + FEE);
  expect(after.entries.find(entry => entry.task_id === task_id)).toMatchObject({ payment: { amount: String(PRICE) } });
  const income = await bookOf(winner);
  expect(income.entries.find(entry => entry.task_id === task_id)).toMatchObject({ payment: { amount: null } });
  expect(BigInt(income.totals.usdc_sum)).toBe(BigInt(income.spent));
});
