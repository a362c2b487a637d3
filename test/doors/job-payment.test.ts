import { randomUUID } from 'node:crypto';
import { x402Client } from '@x402/core/client';
import {
  decodePaymentRequiredHeader,
  decodePaymentResponseHeader,
  encodePaymentSignatureHeader,
} from '@x402/core/http';
import type { PaymentRequired } from '@x402/core/types';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import type { Hex } from 'viem';
import { beforeAll, describe, expect, it } from 'vitest';
import { BeyondLimit, payLegs } from '../../rest-compat/client/pay-legs.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { verifyReceipt } from '../../subgraphs/receipt/verify/receipt.ts';
import type { TransferMessage } from '../harness/base/wallet.ts';
import { JOBS, type JobAgent, jobOf, openJobs, payoutOf, sha256 } from '../harness/board/jobs.ts';
import { nowSeconds, officialClient, payingFetch, paymentFor } from '../harness/buyer.ts';
import { makePayment } from '../harness/doors/make-payment.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { ask } from '../harness/doors/open-service.ts';
import { paidBy, sendMessage, toolCall } from '../harness/mcp-message.ts';

const OUTPUT = 'The whole of it';
const PRICE = 1_500_001n;
/** The price of the stamp and one per cent of the job's price, rounded up. */
const FEE = 2_000n + 15_001n;

type Jobs = Awaited<ReturnType<typeof openJobs>>;
let jobs: Jobs;
beforeAll(async () => {
  jobs = await openJobs();
});

/** Members of a job, or of the 402 in its place, that these tests read. */
interface PaymentAnswer {
  readonly status: string;
  readonly code?: string;
  readonly accepts?: readonly JsonObject[];
  readonly payout?: { readonly task_id: string; readonly verify_url: string } | null;
}

interface BookSeen {
  readonly entries: readonly (JsonObject & { readonly task_id: string })[];
  readonly totals: { readonly usdc_sum: string };
  readonly spent: string;
  readonly pending: string;
}

const payPath = (job_id: string) => `${JOBS}/${job_id}/pay`;
const pay = (job_id: string, headers: Readonly<Record<string, string>>, who: JobAgent = jobs.poster) =>
  jobs.service.post<PaymentAnswer>(payPath(job_id), {}, { ...jobs.by(who), ...headers });
const unpaid = (job_id: string) => pay(job_id, {});
/** Number of the poster's transfers to the winner and to this service. */
const moved = async () => {
  const { service, winner, poster } = jobs;
  const to_winner = await service.chain.transfers(winner.account.address);
  const own = to_winner.filter(({ from }) => from === poster.account.address.toLowerCase());
  return own.length + (await service.transfersFrom(poster.account)).length;
};
const paymentOf = (job_id: string) =>
  paymentFor(jobs.poster.account, jobs.service.url + payPath(job_id), jobs.by(jobs.poster));
const delivered = async () => (await jobs.brought('delivered', OUTPUT)).job_id;
const bookOf = async (who: JobAgent) =>
  (await jobs.service.get<BookSeen>(`/v1/agents/${who.agent_id}/book`, jobs.by(who))).body;
const offerIn = ({ headers }: { headers: Headers }) =>
  decodePaymentRequiredHeader(headers.get('PAYMENT-REQUIRED') ?? '').accepts[0];

describe('POST /v1/board/jobs/{id}/pay', () => {
  it('402 of the winner’s leg, then 402 of the fee, then 200 with one receipt of both, on both books', async () => {
    const job_id = await delivered();
    const { poster, winner, service } = jobs;
    const before = await bookOf(poster);
    const asked = await unpaid(job_id);
    expect(asked.status).toBe(402);
    expect(offerIn(asked)).toMatchObject({
      amount: String(PRICE),
      payTo: winner.account.address,
      maxTimeoutSeconds: 90,
    });
    expect(asked.body.accepts?.[0]).toMatchObject({
      resource: service.url + payPath(job_id),
      description: expect.stringContaining('to its winner'),
    });

    const first = await paymentOf(job_id);
    const due = await pay(job_id, first);
    expect(due.status).toBe(402);
    expect(offerIn(due)).toMatchObject({ amount: String(FEE), payTo: service.pay_to });
    const moved = decodePaymentResponseHeader(due.headers.get('PAYMENT-RESPONSE') ?? '');
    expect(moved).toMatchObject({ success: true, payer: poster.account.address });
    expect(await jobs.read(job_id)).toMatchObject({
      status: 'delivered',
      legs: [
        { leg: 'winner', status: 'settled', payment_ref: `base:${moved.transaction}` },
        { leg: 'fee', status: 'unpaid' },
      ],
    });
    expect(await bookOf(poster)).toMatchObject({ spent: before.spent, pending: String(PRICE + FEE) });
    // After the first payment, both its repetition and a request without payment are offered the second one.
    for (const again of [await pay(job_id, first), await unpaid(job_id)]) {
      expect(again.status).toBe(402);
      expect(offerIn(again)).toMatchObject({ amount: String(FEE) });
    }

    const second = await paymentOf(job_id);
    const paid = await pay(job_id, second);
    expect(paid).toMatchObject({ status: 200, body: { status: 'paid', delivered: true } });
    const task_id = paid.body.payout?.task_id ?? '';
    expect(paid.body.payout?.verify_url).toContain(`/receipt/${task_id}`);
    expect(await jobs.read(job_id)).toMatchObject({ payout: { task_id }, legs: [{}, { status: 'settled' }] });

    const receipt = (await service.get<JsonObject>(`/receipt/${task_id}.json`)).body;
    expect(receipt).toMatchObject({
      claim_id: poster.agent_id,
      payment_ref: `base:${moved.transaction}`,
      amount: String(PRICE),
      payer_wallet: poster.account.address,
      legs: [
        { leg: 'payee', ref: `base:${moved.transaction}`, pay_to: winner.account.address, amount: String(PRICE) },
        { leg: 'fee', pay_to: service.pay_to, amount: String(FEE) },
      ],
      // Only the winner has seen the output, so the commitment names the winner.
      payload: { fulfillment: { output_commitment: { status: 'committed', hash: sha256(OUTPUT), by: 'winner' } } },
    });

    const { body: keys } = await service.get<JsonObject>('/.well-known/jwks.json');
    expect(verifyReceipt(receipt, keys)).toMatchObject({ kind: 'valid', claim_id: poster.agent_id });

    const after = await bookOf(poster);
    expect(BigInt(after.spent) - BigInt(before.spent)).toBe(PRICE + FEE);
    expect(after.pending).toBe('0');
    expect(BigInt(after.totals.usdc_sum) - BigInt(before.totals.usdc_sum)).toBe(PRICE + FEE);
    expect(after.entries.find(entry => entry.task_id === task_id)).toMatchObject({
      evidence: 'collected',
      payment: { amount: String(PRICE) },
    });
    const income = await bookOf(winner);
    expect(income.entries.find(entry => entry.task_id === task_id)).toMatchObject({
      evidence: 'collected',
      payment: { ref: `base:${moved.transaction}`, amount: null },
    });
    expect(BigInt(income.totals.usdc_sum)).toBe(BigInt(income.spent));

    // The first payment reserved both amounts, so a simulation decides on their sum.
    const tried = { policy: { tier2_above: String(PRICE + FEE - 1n) } };
    const simulated = await service.post(`/v1/agents/${poster.agent_id}/book/policy/simulate`, tried, jobs.by(poster));
    expect(simulated.body).toMatchObject({ blocked_count: 1, rows: [{ task_id, amount: String(PRICE + FEE) }] });

    const { text: journal } = await service.get(
      `/v1/agents/${poster.agent_id}/book/export/journal?format=ledger`,
      jobs.by(poster),
    );
    const debit = (account: string, amount: string) => `\n  expenses:${account}  ${amount} USDC\n`;
    for (const line of [debit('jobs', '1.500001'), debit('fees', '0.017001'), debit('stamps', '0.002000')])
      expect(journal).toContain(line);
    expect(journal.split(debit('jobs', '1.500001'))[0]).toContain(`(${task_id})`);
    expect(journal).not.toMatch(/^ +expenses:(inference|other)/m);

    // From now on each of the two payments, or none, gets the same result. Another payment is refused.
    for (const again of [await pay(job_id, first), await pay(job_id, second), await unpaid(job_id)])
      expect(again).toMatchObject({ status: 200, body: { status: 'paid', payout: { task_id } } });
    const other = await paymentFor(poster.account, `${service.url}/v1/chat/completions`);
    expect(await pay(job_id, other)).toMatchObject({ status: 409, body: { code: 'job_already_paid', charged: false } });
    // Either payment with another body is refused as charged, because it was charged but did not buy that.
    const named = { output_sha256: sha256(OUTPUT) };
    for (const charged of [first, second])
      expect(await service.post(payPath(job_id), named, { ...jobs.by(poster), ...charged })).toMatchObject({
        status: 409,
        body: { code: 'job_already_paid', charged: true },
      });
    const received = await service.chain.transfers(winner.account.address);
    expect(received.filter(({ from }) => from === poster.account.address.toLowerCase())).toHaveLength(1);

    const revealed = await jobs.step(winner, job_id, 'reveal', { output: OUTPUT, encoding: 'utf8' });
    expect(revealed).toMatchObject({ status: 200, body: { status: 'closed', payout: { task_id } } });
  });

  it('200 by the official client, a call for each leg', async () => {
    const job_id = await delivered();
    const statuses: number[] = [];
    for (let legs = 0; legs < 2; legs++) {
      const by = payingFetch(jobs.poster.account);
      const headers = jobs.by(jobs.poster);
      statuses.push((await jobs.service.knock('POST', payPath(job_id), { body: {}, headers, by })).status);
    }
    expect(statuses).toEqual([402, 200]);
  });

  it('200 by our own client, which pays both within its cap and nobody but whom it was told', async () => {
    const job_id = await delivered();
    const { service, poster, winner } = jobs;
    const payments = officialClient(poster.account);
    const headers = { ...jobs.by(poster), 'content-type': 'application/json' };
    const by = (payees: readonly string[], amount_atomic_max: bigint) =>
      payLegs({ payments, payees, amount_atomic_max }, service.url + payPath(job_id), {
        method: 'POST',
        headers,
        body: '{}',
      });
    await expect(by([service.pay_to], PRICE + FEE)).rejects.toThrow(BeyondLimit);
    await expect(by([winner.account.address, service.pay_to], PRICE - 1n)).rejects.toThrow(BeyondLimit);
    const paid = await by([winner.account.address, service.pay_to], PRICE + FEE);
    expect([paid.status, ((await paid.json()) as PaymentAnswer).status]).toEqual([200, 'paid']);
  });

  it('200 by our own client over an ordinary one of x402, which by itself signs for no more than a dollar', async () => {
    const job_id = await delivered();
    const { service, poster, winner } = jobs;
    const payments = new x402Client().register('eip155:*', new ExactEvmScheme(poster.account));
    const payees = [winner.account.address, service.pay_to];
    const by =
      (tampered: boolean) =>
      async (...sent: Parameters<typeof fetch>) => {
        const request = new Request(...sent);
        const answer = await fetch(request);
        if (!tampered || request.method !== 'GET') return answer;
        // The job shows other terms than the offer, because the proxy changed them.
        return Response.json({
          ...((await answer.json()) as object),
          price: '1',
          legs: [{ leg: 'winner', pay_to: winner.account.address, amount: '1' }],
        });
      };
    const paying = (tampered: boolean) => {
      const headers = { ...jobs.by(poster), 'content-type': 'application/json' };
      const body = JSON.stringify({ output_sha256: sha256(OUTPUT) });
      const buyer = { payments, payees, amount_atomic_max: PRICE + FEE, fetch: by(tampered) };
      return payLegs(buyer, service.url + payPath(job_id), { method: 'POST', headers, body });
    };
    const before = (await service.chain.transfers(winner.account.address)).length;
    await expect(paying(true)).rejects.toThrow();
    expect(await service.chain.transfers(winner.account.address)).toHaveLength(before);
    const paid = await paying(false);
    expect([paid.status, ((await paid.json()) as PaymentAnswer).status]).toEqual([200, 'paid']);
    expect(await service.chain.transfers(winner.account.address)).toHaveLength(before + 1);
    // The client itself still works, so only the terms were the reason.
    const another = await unpaid((await jobs.brought('delivered', OUTPUT)).job_id);
    const required = decodePaymentRequiredHeader(another.headers.get('PAYMENT-REQUIRED') ?? '') as PaymentRequired;
    await expect(payments.createPaymentPayload(required)).rejects.toThrow();
  });

  it('409 job_output_differs of another hash than is delivered, at either payment, before any money moves', async () => {
    const job_id = await delivered();
    const { service, poster, winner } = jobs;
    const right = { output_sha256: sha256(OUTPUT) };
    const wrong = { output_sha256: sha256('Another') };
    const payFor = (body: JsonObject, headers: Readonly<Record<string, string>> = {}) =>
      service.post<PaymentAnswer>(payPath(job_id), body, { ...jobs.by(poster), ...headers });
    const before = await moved();
    const differs = { status: 409, body: { code: 'job_output_differs', charged: false, ...right } };
    const first = await paymentOf(job_id);
    expect(await payFor(wrong)).toMatchObject(differs);
    expect(await payFor(wrong, first)).toMatchObject(differs);
    const query = `mutation { payJob(jobId: "${job_id}", outputSha256: "${wrong.output_sha256}") { status } }`;
    expect(await onGraph(service, query, {}, jobs.by(poster))).toMatchObject({
      errors: [{ extensions: { code: 'job_output_differs' } }],
    });
    expect(await moved()).toBe(before);
    // The payment is unused, so it pays for the actual delivery.
    expect((await payFor(right, first)).status).toBe(402);
    expect(await moved()).toBe(before + 1);
    const replacing = await jobs.step(winner, job_id, 'deliver', wrong);
    expect(replacing).toMatchObject({ status: 409, body: { code: 'job_leg_in_flight' } });
    const refusing = await jobs.step(poster, job_id, 'refuse', { ...right, reason: 'Too late' });
    expect(refusing).toMatchObject({ status: 409, body: { code: 'job_leg_in_flight' } });
    const second = await paymentOf(job_id);
    const charged = { ...differs, body: { ...differs.body, charged: true } };
    for (const headers of [{}, second]) expect(await payFor(wrong, headers)).toMatchObject(differs);
    // The first payment has moved, so its refusal must say that it was charged.
    const of_moved = await payFor(wrong, first);
    expect(of_moved).toMatchObject(charged);
    expect(of_moved.text).not.toContain('Nothing was charged');
    expect(await moved()).toBe(before + 1);
    const paid = await payFor(right, second);
    expect(paid).toMatchObject({ status: 200, body: { status: 'paid' } });
    expect(await moved()).toBe(before + 2);
    for (const headers of [{}, first, second])
      expect(await payFor(right, headers)).toMatchObject({ status: 200, body: { payout: paid.body.payout } });
    for (const headers of [first, second]) expect(await payFor(wrong, headers)).toMatchObject(charged);
    expect((await jobs.read(job_id)).legs).toMatchObject([right, right]);
  });

  it('409 job_already_paid says of a payment that settles in another process that this is not known, then what became of it', async () => {
    const [job_id, undone] = [await delivered(), await delivered()];
    const { service, poster } = jobs;
    await pay(job_id, await paymentOf(job_id));
    expect((await pay(job_id, await paymentOf(job_id))).status).toBe(200);
    // A payment that bought something else. Its claim is set to each state, as if it were still in progress.
    const shown = await paymentFor(await service.chain.newWallet(), `${service.url}/v1/chat/completions`);
    const bought = await service.post<{ svc: { task_id: string } }>('/v1/chat/completions', ask('Elsewhere'), shown);
    expect(bought.status).toBe(200);
    const elsewhere = randomUUID();
    await service.query(
      `insert into process_lease (owner, expires_at, generation) values ($1, now() + interval '1 hour', 1)`,
      [elsewhere],
    );
    const stands = (state: string) =>
      service.query(
        `update payment_claim set state = $2, lease_owner = case when $2 in ('claimed', 'settling') then $3::uuid end,
          moved_at = now() where task_id = $1`,
        [bought.body.svc.task_id, state, elsewhere],
      );
    const payFor = (id: string, body: JsonObject) =>
      service.post<PaymentAnswer>(payPath(id), body, { ...jobs.by(poster), ...shown });
    const wrong = { output_sha256: sha256('Another') };
    const query = `mutation { payJob(jobId: "${job_id}") { status } }`;
    const [header] = Object.values(shown);
    for (const [state, charged] of [
      ['claimed', null],
      ['settling', null],
      ['recorded', true],
      ['released', false],
      ['recorded', true],
    ] as const) {
      await stands(state);
      const heard = await payFor(job_id, {});
      expect(heard, state).toMatchObject({ status: 409, body: { code: 'job_already_paid', charged } });
      expect(await onGraph(service, query, {}, { ...jobs.by(poster), ...shown }), state).toMatchObject({
        refused: { code: 'job_already_paid', charged },
      });
      const tool = await sendMessage(service.url, toolCall('pay_job', { id: job_id }, paidBy(header)), jobs.by(poster));
      expect(tool.body?.result, `${state} ${tool.text}`).toMatchObject({
        isError: true,
        structuredContent: { code: 'job_already_paid', charged },
      });
      expect(await payFor(undone, wrong), state).toMatchObject({
        status: 409,
        body: { code: 'job_output_differs', charged },
      });
      // A request with this payment that is refused before the payment is looked up.
      const unreadable = await service.post<JsonObject>('/v1/chat/completions', ask('Elsewhere'), {
        ...shown,
        'Idempotency-Key': 'x'.repeat(300),
      });
      expect(unreadable, state).toMatchObject({ status: 400, body: { code: 'invalid_request', charged } });
      const asked = await payFor(undone, {});
      if (charged === null) {
        for (const { headers, text } of [heard, unreadable]) {
          expect(headers.get('x-should-retry'), text).toBe('false');
          expect(headers.get('PAYMENT-RESPONSE'), text).not.toBeNull();
          const told = decodePaymentResponseHeader(headers.get('PAYMENT-RESPONSE') ?? '');
          expect(told).toMatchObject({ success: false, errorReason: 'settlement_pending' });
        }
        expect(asked).toMatchObject({ status: 409, body: { code: 'payment_already_used' } });
      } else if (charged) {
        expect(heard.headers.get('x-should-retry')).toBe('false');
        expect(asked).toMatchObject({ status: 409, body: { code: 'claim_already_settled' } });
      } else {
        expect(heard.headers.get('x-should-retry')).toBeNull();
      }
    }
  });

  it('402 of the first payment after another was delivered in its place: what was offered for the first is claimed for none', async () => {
    const job_id = await delivered();
    const first = await paymentOf(job_id);
    const another = { output_sha256: sha256('Another') };
    expect((await jobs.step(jobs.winner, job_id, 'deliver', another)).status).toBe(200);
    const named = { ...jobs.by(jobs.poster), ...first };
    expect(
      await jobs.service.post<PaymentAnswer>(payPath(job_id), { output_sha256: sha256(OUTPUT) }, named),
    ).toMatchObject({
      status: 409,
      body: { code: 'job_output_differs', charged: false, ...another },
    });
    // A poster that names no hash accepts the current delivery.
    expect((await pay(job_id, first)).status).toBe(402);
    const paid = await pay(job_id, await paymentOf(job_id));
    const { payout } = paid.body;
    const receipt = await jobs.service.get<JsonObject>(`/receipt/${payout?.task_id}.json`);
    expect(receipt.text).toContain(another.output_sha256);
    expect(receipt.text).not.toContain(sha256(OUTPUT));
  });

  it('409 job_leg_in_flight to whoever pays while the winner replaces what was delivered, and nothing is charged', async () => {
    for (let round = 0; round < 4; round++) {
      const job_id = await delivered();
      const before = await moved();
      const payment = await paymentOf(job_id);
      const body = { output_sha256: sha256(OUTPUT) };
      const [paid, replaced] = await Promise.all([
        jobs.service.post<PaymentAnswer>(payPath(job_id), body, { ...jobs.by(jobs.poster), ...payment }),
        jobs.step(jobs.winner, job_id, 'deliver', { output_sha256: sha256('Another') }),
      ]);
      const payments = (await moved()) - before;
      const shown = (await jobs.read(job_id)).output_sha256;
      if (replaced.status === 200) expect([paid.status, payments, shown]).toEqual([409, 0, sha256('Another')]);
      else
        expect([replaced.body, paid.status, payments, shown]).toMatchObject([
          { code: 'job_leg_in_flight' },
          402,
          1,
          sha256(OUTPUT),
        ]);
    }
  });

  it('401 and 403 to whoever is not the poster, with nothing of a price', async () => {
    const job_id = await delivered();
    const { service, winner } = jobs;
    expect(await service.post(payPath(job_id), {})).toMatchObject({ status: 401, text: '' });
    expect(await pay(job_id, {}, winner)).toMatchObject({ status: 403, body: { code: 'not_a_party' } });
  });

  it('404 where there is no such job; 409 before it is delivered', async () => {
    expect(await unpaid('job_00000000000000000000000000')).toMatchObject({ status: 404 });
    const job = await jobs.post(jobs.poster, jobOf());
    expect(await unpaid(job.body.job_id)).toMatchObject({ status: 409, body: { code: 'job_state_conflict' } });
  });

  it.each<[what: string, wrong: () => Partial<TransferMessage>]>([
    ['to somebody else', () => ({ to: jobs.service.pay_to as Hex })],
    ['of one atomic unit less', () => ({ value: PRICE - 1n })],
    ['of one atomic unit more', () => ({ value: PRICE + 1n })],
    ['that stands for longer than two minutes', () => ({ validBefore: BigInt(nowSeconds() + 150) })],
  ])('402 payment_rejected of a payment %s: nothing moves', async (_, wrong) => {
    const job_id = await delivered();
    const moved = (await jobs.service.transfersFrom(jobs.poster.account)).length;
    const right = { to: jobs.winner.account.address, value: PRICE, validBefore: BigInt(nowSeconds() + 90) };
    const { headers } = await makePayment(jobs.service, jobs.poster.account, {
      version: 1,
      signed: { ...right, ...wrong() },
    });
    expect(await pay(job_id, headers)).toMatchObject({ status: 402, body: { code: 'payment_rejected' } });
    expect((await jobs.service.transfersFrom(jobs.poster.account)).length).toBe(moved);
    expect(await jobs.read(job_id)).toMatchObject({ status: 'delivered', legs: [{ status: 'unpaid' }, {}] });
  });

  it('409 payer_is_payee of a payment by the winner to itself: nothing moves, and the job still waits for its poster', async () => {
    const job_id = await delivered();
    const { service, winner, poster } = jobs;
    const moved = (await service.transfersFrom(winner.account)).length;
    const own = await paymentFor(winner.account, service.url + payPath(job_id), jobs.by(poster));
    expect(await pay(job_id, own)).toMatchObject({ status: 409, body: { code: 'payer_is_payee', charged: false } });
    expect((await service.transfersFrom(winner.account)).length).toBe(moved);
    expect(await jobs.read(job_id)).toMatchObject({ status: 'delivered', legs: [{ status: 'unpaid' }, {}] });
    expect((await unpaid(job_id)).status).toBe(402);
  });

  it('403 with a signed refusal where the book’s budget does not take both; nothing is held', async () => {
    const { poster, job_id, budget, spent, ...by } = await bounded();
    await budget(spent + PRICE + FEE - 1n);
    const first = await by.payment();
    expect(await by.pay(first)).toMatchObject({ status: 403, body: { refusal_code: 'budget_exhausted' } });
    await budget(spent + PRICE + FEE);
    const due = await by.pay(await by.payment());
    expect(due.status).toBe(402);
    // The policy decides once. The second payment passes even if the policy has changed since.
    const policy = { policy_type: 'kill_switch', value: true };
    await jobs.service.post(`/v1/agents/${poster.agent_id}/book/policy`, policy, jobs.by(poster));
    expect(await by.pay(await by.payment())).toMatchObject({ status: 200, body: { status: 'paid' } });
    expect((await jobs.read(job_id)).status).toBe('paid');
  });

  it('402 of the fee to a payment that the book has refused, once another one is the first: it was never sent', async () => {
    const { budget, spent, ...by } = await bounded();
    await budget(spent + PRICE + FEE - 1n);
    const refused = await by.payment();
    const first = await by.pay(refused);
    expect(first).toMatchObject({ status: 403, body: { refusal_code: 'budget_exhausted' } });
    await budget(null);
    const other = await by.payment();
    const due = await by.pay(other);
    expect(due.status).toBe(402);
    // Another payment is the first one now, so the answer to the refused one says only that it is not the second.
    const again = await by.pay(refused);
    expect([again.status, again.body.code]).toEqual([402, 'payment_rejected']);
    expect(offerIn(again)).toMatchObject({ amount: String(FEE) });
    expect(await by.pay(await by.payment())).toMatchObject({ status: 200, body: { status: 'paid' } });
    expect((await by.pay(refused)).status).toBe(409);
  });
});

/** A delivered job of a new poster, whose policies affect this test only. */
async function bounded() {
  const { service } = jobs;
  const poster = await service.newAgent();
  const { job_id } = (await jobs.post(poster)).body;
  const { bid_id } = (await jobs.bid(jobs.winner, job_id)).body;
  await jobs.step(poster, job_id, 'pick', { bid_id });
  await jobs.step(jobs.winner, job_id, 'deliver', { output_sha256: sha256(OUTPUT) });
  const book = `/v1/agents/${poster.agent_id}/book`;
  return {
    poster,
    job_id,
    spent: BigInt((await bookOf(poster)).spent),
    budget: (value: bigint | null) => service.post(book, { budget: value && String(value) }, jobs.by(poster)),
    payment: () => paymentFor(poster.account, service.url + payPath(job_id), jobs.by(poster)),
    pay: (headers: Readonly<Record<string, string>>) => pay(job_id, headers, poster),
  };
}

it('POST /v1/board/jobs/{id}/pay 402, 402, 200 on Solana: both payments move there once, and stand on both books', async () => {
  const PRICE = 500_001n;
  /** The price of the stamp and one per cent of the job's price, rounded up. */
  const FEE = 2_000n + 5_001n;
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
  const requirementsIn = ({ headers }: { headers: Headers }) =>
    decodePaymentRequiredHeader(headers.get('PAYMENT-REQUIRED') ?? '') as PaymentRequired;
  const paymentOf = async (asked: PaymentRequired) => ({
    'PAYMENT-SIGNATURE': encodePaymentSignatureHeader(await client.createPaymentPayload(asked)),
  });
  const bookOf = async (who: JobAgent) =>
    (await service.get<BookSeen>(`/v1/agents/${who.agent_id}/book`, jobs.by(who))).body;

  const before = await bookOf(poster);
  const asked = await pay();
  expect([asked.status, requirementsIn(asked).accepts]).toMatchObject([
    402,
    [{ amount: String(PRICE), payTo: paid_to.address }],
  ]);
  const first = await paymentOf(requirementsIn(asked));
  const due = await pay(first);
  expect([due.status, requirementsIn(due).accepts]).toMatchObject([
    402,
    [{ amount: String(FEE), payTo: service.treasury }],
  ]);
  expect((await jobs.read(job_id)).legs).toMatchObject([
    { leg: 'winner', network: 'solana', status: 'settled', payment_ref: expect.stringMatching(/^solana:/) },
    { leg: 'fee', status: 'unpaid' },
  ]);
  expect((await pay(first)).status).toBe(402);

  const second = await paymentOf(requirementsIn(due));
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
