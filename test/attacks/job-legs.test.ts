import { beforeAll, describe, expect, it } from 'vitest';
import { payLegs } from '../../rest-compat/client/pay-legs.ts';
import { bookProof, proofWindow } from '../../subgraphs/session/possession/proof.ts';
import { JOBS, type JobAgent, openJobs } from '../harness/board/jobs.ts';
import { nowSeconds, officialClient, type PaymentHeaders, paymentFor } from '../harness/buyer.ts';
import { boundProofHeaders } from '../harness/doors/bound-proof.ts';
import { makePayment, submitElsewhere } from '../harness/doors/make-payment.ts';
import { movableClock } from '../harness/movable-clock.ts';

/* Attempts by a job's poster, its winner or another agent to misuse the two payments of the job. */

const PRICE = 1_500_001n;
/** The price of a stamp and one per cent of the job's price, rounded up. */
const FEE = 2_000n + 15_001n;
/** Number of claims before the one that fails: three registrations, and a post and a bid for each of two jobs. */
const CLAIMS_BEFORE = 3 + 2 * 2;

const clock = movableClock();
let jobs: Awaited<ReturnType<typeof openJobs>>;
beforeAll(async () => {
  const breaks_at = [...Array.from({ length: CLAIMS_BEFORE }, () => ''), 'after_claim'];
  jobs = await openJobs({}, { breaks_at, clock, meant: /the drawer is stuck/ });
});

interface LegAnswer {
  readonly status?: string;
  readonly code?: string;
  readonly accepts?: readonly { readonly payTo: string }[];
}

const payPath = (job_id: string) => `${JOBS}/${job_id}/pay`;
const pay = (job_id: string, headers: PaymentHeaders = {}) =>
  jobs.service.post<LegAnswer>(payPath(job_id), {}, { ...jobs.by(jobs.poster), ...headers });
const paymentOf = (job_id: string) =>
  paymentFor(jobs.poster.account, jobs.service.url + payPath(job_id), jobs.by(jobs.poster));
const delivered = async () => (await jobs.brought('delivered')).job_id;
/** The status, and the payee of the offer in a 402. */
const nextPayee = ({ status, body }: Awaited<ReturnType<typeof pay>>) => [status, body.accepts?.[0]?.payTo];
const winners = () => [402, jobs.winner.account.address];
const fees = () => [402, jobs.service.pay_to];
const toWinner = async () => (await jobs.service.chain.transfers(jobs.winner.account.address)).length;

describe('a payment that was claimed and never sent', () => {
  it('is the first leg of the job alone that it was claimed for, and each job wants one of its own', async () => {
    const [one, two] = [await delivered(), await delivered()];
    const before = await toWinner();
    const payment = await paymentOf(one);
    expect((await pay(one, payment)).status).toBe(500);
    expect(await pay(two, payment)).toMatchObject({ status: 409, body: { code: 'payment_already_used' } });
    expect(await pay(one)).toMatchObject({ status: 409, body: { code: 'job_leg_in_flight' } });
    expect(nextPayee(await pay(one, payment))).toEqual(fees());
    expect(nextPayee(await pay(two))).toEqual(winners());
    expect(nextPayee(await pay(two, await paymentOf(two)))).toEqual(fees());
    expect(await toWinner()).toBe(before + 2);
    for (const job_id of [one, two])
      expect(await pay(job_id, await paymentOf(job_id))).toMatchObject({ status: 200, body: { status: 'paid' } });
  });
});

describe('of two payments of one job that race, the one that comes second and is never sent', () => {
  it('is asked to pay for what is due, there and at another door, and is no first leg', async () => {
    const { service, poster } = jobs;
    const job_id = await delivered();
    const before = await toWinner();
    const both = [await paymentOf(job_id), await paymentOf(job_id)] as const;
    const raced = await Promise.all([pay(job_id, both[0]), pay(job_id, both[1])]);
    expect(raced.map(({ status }) => status).sort()).toEqual([402, 409]);
    const late = raced[0].status === 409 ? both[0] : both[1];
    const again = await pay(job_id, late);
    expect([again.body.code, ...nextPayee(again)]).toEqual(['payment_rejected', ...fees()]);
    const chat = { messages: [{ role: 'user', content: 'x' }] };
    expect((await service.post('/v1/chat/completions', chat, late)).status).toBe(402);
    expect(await toWinner()).toBe(before + 1);
    expect(
      await pay(job_id, await paymentFor(poster.account, service.url + payPath(job_id), jobs.by(poster))),
    ).toMatchObject({ status: 200, body: { status: 'paid' } });
  });
});

describe('a header that names a payment of a paid job, and that its payer has not signed', () => {
  it('409 job_already_paid, and counts as no replay; signed, it is the answer once more', async () => {
    const { service, poster, winner } = jobs;
    const job_id = await delivered();
    const signed = { to: winner.account.address, value: PRICE, validBefore: BigInt(nowSeconds() + 80) };
    const made = await makePayment(service, poster.account, { version: 1, signed });
    expect(nextPayee(await pay(job_id, made.headers))).toEqual(fees());
    const paid = await pay(job_id, await paymentOf(job_id));
    expect(paid.status).toBe(200);
    const replays = async () => {
      const { payout } = await jobs.read(job_id);
      const text = 'select replay_count from book_row where task_id = $1 and agent_id = $2';
      const rows = await service.query<{ replay_count: number }>(text, [payout?.task_id, poster.agent_id]);
      return rows[0]?.replay_count;
    };
    expect(await replays()).toBe(0);
    const { nonce } = made.message;
    const forged = await makePayment(service, jobs.other.account, {
      version: 1,
      signed: { ...signed, nonce },
      sent: { from: poster.account.address },
    });
    expect(await pay(job_id, forged.headers)).toMatchObject({ status: 409, body: { code: 'job_already_paid' } });
    expect(await replays()).toBe(0);
    expect(await pay(job_id, made.headers)).toMatchObject({ status: 200, body: { status: 'paid' } });
    expect(await replays()).toBe(1);
  });
});

describe('both payments of one request', () => {
  const payBoth = async (job_id: string, headers: Record<string, string>, body: object) => {
    const { poster, winner, service } = jobs;
    const payees = [winner.account.address, service.pay_to];
    const limits = { payments: officialClient(poster.account), payees, amount_atomic_max: PRICE + FEE };
    const sent = {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    };
    return (await payLegs(limits, service.url + payPath(job_id), sent)).status;
  };

  it('200 by a plain proof, and by a bound one', async () => {
    const { agent_id, session } = jobs.poster;
    const plain = { 'X-SVC-Proof': bookProof(session, agent_id, proofWindow(Date.now())) };
    expect(await payBoth(await delivered(), plain, { agent_id })).toBe(200);
    const job_id = await delivered();
    const bound = boundProofHeaders(session, agent_id, { method: 'POST', path: payPath(job_id), body: { agent_id } });
    expect(await payBoth(job_id, bound, { agent_id })).toBe(200);
  });

  it('200 under one Idempotency-Key', async () => {
    const headers = { ...jobs.by(jobs.poster), 'Idempotency-Key': 'pays-a-job' };
    expect(await payBoth(await delivered(), headers, {})).toBe(200);
  });
});

describe('a second payment of which nobody knows yet whether it moved', () => {
  it('503, and nobody is asked for another one: 409 with Retry-After, until the chain has said it', async () => {
    const job_id = await delivered();
    const first = await paymentOf(job_id);
    expect(nextPayee(await pay(job_id, first))).toEqual(fees());
    const fee = await paymentOf(job_id);
    await jobs.service.chain.setAutomine(false);
    try {
      expect(await pay(job_id, fee)).toMatchObject({ status: 503, body: { code: 'settlement_pending' } });
      for (const again of [await pay(job_id), await pay(job_id, first)]) {
        expect(again).toMatchObject({ status: 409, body: { code: 'job_leg_in_flight' } });
        expect(Number(again.headers.get('retry-after'))).toBeGreaterThan(0);
      }
    } finally {
      await jobs.service.chain.setAutomine(true);
      await jobs.service.chain.mine(1);
    }
    await expect.poll(async () => (await pay(job_id, fee)).status).toBe(200);
  });
});

// The last tests of the file, because the time of the chain cannot be set back.
describe('what was paid to the winner for something else', () => {
  const elsewhere = async (who: JobAgent, valid_seconds: number) => {
    const validBefore = BigInt(nowSeconds() + valid_seconds);
    const signed = { to: jobs.winner.account.address, value: PRICE, validBefore };
    const made = await makePayment(jobs.service, who.account, { version: 1, signed });
    await submitElsewhere(jobs.service, made);
    return made.headers;
  };

  it.each([
    ['by a stranger', () => elsewhere(jobs.other, 60)],
    ['by the poster', () => elsewhere(jobs.poster, 60)],
    [
      'and is out of time by now',
      async () => {
        const headers = await elsewhere(jobs.other, 60);
        await jobs.service.chain.passTime(120);
        clock.pass(120);
        return headers;
      },
    ],
  ])('%s is no first leg: 409 payment_already_used, and the winner is still to be paid', async (_, paidElsewhere) => {
    const job_id = await delivered();
    const shown = await pay(job_id, await paidElsewhere());
    expect(shown).toMatchObject({ status: 409, body: { code: 'payment_already_used' } });
    expect(nextPayee(await pay(job_id))).toEqual(winners());
  });
});
