import { x402Client } from '@x402/core/client';
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { JOBS, openJobs, payoutOf, sha256 } from '../harness/board/jobs.ts';
import { nowSeconds, type PaymentHeaders, paymentFor } from '../harness/buyer.ts';
import { makePayment, type SignedPayment, submitElsewhere } from '../harness/doors/make-payment.ts';
import { eventually } from '../harness/faults/ground.ts';
import { hurryTasks } from '../harness/jobs.ts';
import { delegate } from '../harness/session/delegate.ts';
import { below, bindRoot, newKey, spendingIn } from '../harness/session/trees.ts';

/* The first payment of a job is recorded with its transfer, and the chain then removes the transfer from its block. */

const PRICE = 1_500_001n;
/** Price below the amount up to which the official client pays without being configured. */
const SOLANA_PRICE = 500_001n;
/** The price of the stamp and one per cent of the job's price, rounded up. */
const FEE = 2_000n + 15_001n;

interface LegAnswer {
  readonly status?: string;
  readonly code?: string;
  readonly accepts?: readonly { readonly payTo: string }[];
  readonly payout?: { readonly task_id: string };
}

async function openHouse() {
  const jobs = await openJobs();
  const { service, poster, winner } = jobs;
  const { chain } = service;
  const path = (job_id: string) => `${JOBS}/${job_id}/pay`;
  const pay = (job_id: string, headers: PaymentHeaders = {}) =>
    service.post<LegAnswer>(path(job_id), {}, { ...jobs.by(poster), ...headers });
  const first = (valid_seconds: number) => {
    const validBefore = BigInt(nowSeconds() + valid_seconds);
    return makePayment(service, poster.account, {
      version: 1,
      signed: { to: winner.account.address, value: PRICE, validBefore },
    });
  };
  /** Blocks of settlements that the chain will lose. */
  const lost: string[] = [];
  /** Waits until the newest settlements are recorded as mined, because the service would rightly send any other one again. */
  const aboutToLose = (transactions: number) =>
    eventually('all that is lost known as mined', async () => {
      const settled = await service.query<{ state: string; block_hash: string }>(
        'select state, block_hash from settlement order by created_at desc limit $1',
        [transactions],
      );
      if (settled.some(({ state }) => state !== 'mined')) return null;
      lost.push(...settled.map(({ block_hash }) => block_hash));
      return true;
    });
  const fees = [402, service.pay_to];
  /** The status, and the payee of the offer in a 402. */
  const asked = ({ status, body }: Awaited<ReturnType<typeof pay>>) => [status, body.accepts?.[0]?.payTo];
  return {
    ...jobs,
    chain,
    pay,
    first,
    asked,
    fees,
    winners: [402, winner.account.address],
    paymentOf: (job_id: string) => paymentFor(poster.account, service.url + path(job_id), jobs.by(poster)),
    /** Makes the first payment of a job and returns it. The fee is not paid. */
    async halfPaid(job_id: string, valid_seconds: number) {
      const made = await first(valid_seconds);
      expect(asked(await pay(job_id, made.headers))).toEqual(fees);
      return made;
    },
    delivered: async () => (await jobs.brought('delivered')).job_id,
    legOne: async (job_id: string) => {
      const [leg] = (await jobs.read(job_id)).legs ?? [];
      return { status: leg?.status, payment_ref: leg?.payment_ref };
    },
    fee: async () => {
      const signed = { value: FEE, validBefore: BigInt(nowSeconds() + 90) };
      return (await makePayment(service, poster.account, { version: 1, signed })).headers;
    },
    toWinner: async () => {
      const transfers = await chain.transfers(winner.account.address);
      return transfers
        .filter(({ from }) => from === poster.account.address.toLowerCase())
        .map(({ tx_hash }) => tx_hash);
    },
    /** Takes the chain back to its state before the newest settlements. */
    async takeBack(snapshot: string, transactions = 1) {
      await aboutToLose(transactions);
      await chain.call('evm_revert', snapshot);
    },
    aboutToLose,
    /**
     * Lets the payment expire, so that no later block accepts it. The chain's time decides, which earlier tests have moved ahead of this
     * machine's.
     */
    async outlive({ message }: SignedPayment) {
      const { timestamp } = await chain.call<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false);
      await chain.passTime(Math.max(1, Number(message.validBefore) - Number(timestamp)));
    },
    /**
     * Waits until the gateways have found the outcome and no lost settlement is left to check. A settlement that is left would put the
     * payment of a job in doubt again, and then no answer would request its fee.
     */
    until: (found: () => Promise<boolean>) =>
      eventually('what became of it', async () => {
        await hurryTasks(service.query, 'finality', 'doubted');
        const unseen = await service.query('select 1 from settlement where block_hash = any($1)', [lost]);
        const left = await service.query('select 1 from doubted_payment');
        return (unseen.length === 0 && left.length === 0 && (await found())) || null;
      }),
    reserved: async () => {
      const text = 'select reserved_atomic from book where agent_id = $1';
      const [book] = await service.query<{ reserved_atomic: string }>(text, [poster.agent_id]);
      return BigInt(book?.reserved_atomic ?? -1);
    },
  };
}

it('it never moves: the job is to be paid again, its book has back what was held, and both move once', async () => {
  const house = await openHouse();
  const { chain, pay, asked, legOne } = house;
  const job_id = await house.delivered();
  const snapshot = await chain.call<string>('evm_snapshot');
  const made = await house.halfPaid(job_id, 30);
  await house.takeBack(snapshot);
  await house.outlive(made);
  await chain.mine(8);
  await house.until(async () => (await legOne(job_id)).status === 'unpaid');
  expect(await legOne(job_id)).toEqual({ status: 'unpaid', payment_ref: null });
  expect(await house.reserved()).toBe(0n);
  expect(asked(await pay(job_id, await house.fee()))).toEqual(house.winners);

  expect(asked(await pay(job_id, await house.paymentOf(job_id)))).toEqual(house.fees);
  expect(await pay(job_id, await house.paymentOf(job_id))).toMatchObject({ status: 200, body: { status: 'paid' } });
  expect(await house.toWinner()).toHaveLength(1);
  expect(await house.reserved()).toBe(0n);
});

it('under a session: every session over it has back what both would have counted, and what is paid anew counts once', async () => {
  const house = await openHouse();
  const { service, poster, chain, pay, asked, legOne } = house;
  const BOTH = PRICE + FEE;
  const root = await bindRoot(service, poster.account, { capAtomic: '5000000' });
  // Limits the session to the price of one job.
  const narrowed = { ...below(root), capAtomic: String(BOTH) };
  const child = await delegate(root.agent, poster.account, newKey(), narrowed);
  const counted = async ({ delegation_hash }: { readonly delegation_hash: string }) =>
    (await spendingIn(service, poster.session, root)).get(delegation_hash);
  const before = BigInt(String((await counted(root))?.spentAtomic));
  const job_id = await house.delivered();
  const snapshot = await chain.call<string>('evm_snapshot');
  const made = await house.first(30);
  expect(asked(await pay(job_id, { ...made.headers, ...child.headers }))).toEqual(house.fees);
  expect(await counted(root)).toEqual({ spentAtomic: String(before), heldAtomic: String(BOTH) });
  await house.takeBack(snapshot);
  await house.outlive(made);
  await chain.mine(8);
  await house.until(async () => (await legOne(job_id)).status === 'unpaid');
  expect(await counted(root)).toEqual({ spentAtomic: String(before), heldAtomic: '0' });

  const anew = async () => pay(job_id, { ...(await house.paymentOf(job_id)), ...child.headers });
  expect(asked(await anew())).toEqual(house.fees);
  expect(await anew()).toMatchObject({ status: 200, body: { status: 'paid' } });
  expect(await counted(root)).toEqual({ spentAtomic: String(before + BOTH), heldAtomic: '0' });
  expect(await counted(child)).toEqual({ spentAtomic: String(BOTH), heldAtomic: '0' });
});

it('until that is known nobody is asked for the fee and none is taken: 503, then 409; moved by another, it stands as that', async () => {
  const house = await openHouse();
  const { service, chain, pay, asked, legOne } = house;
  const [lost_job, moved_job] = [await house.delivered(), await house.delivered()];
  const snapshot = await chain.call<string>('evm_snapshot');
  const lost = await house.halfPaid(lost_job, 30);
  const moved = await house.halfPaid(moved_job, 60);
  const before = await legOne(moved_job);
  await house.takeBack(snapshot, 2);
  const fee = await house.fee();
  for (const shown of [{}, fee, lost.headers])
    expect(await pay(lost_job, shown)).toMatchObject({ status: 503, body: { code: 'settlement_pending' } });

  const hash = await submitElsewhere(service, moved);
  expect(await pay(moved_job, fee)).toMatchObject({ status: 409, body: { code: 'job_leg_in_flight' } });
  expect(await legOne(moved_job)).toEqual({ status: 'settled', payment_ref: `base:${hash}` });
  expect(before.payment_ref).not.toBe(`base:${hash}`);
  expect(asked(await pay(moved_job))).toEqual(house.fees);

  await house.outlive(lost);
  for (const shown of [{}, fee, lost.headers]) {
    const answer = await pay(lost_job, shown);
    expect(answer).toMatchObject({ status: 409, body: { code: 'job_leg_in_flight' } });
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  await house.outlive(moved);
  await chain.mine(8);
  await house.until(async () => (await legOne(lost_job)).status === 'unpaid');
  const { body } = await pay(moved_job, await house.paymentOf(moved_job));
  expect(body.status).toBe('paid');
  const receipt = await service.get<JsonObject>(`/receipt/${body.payout?.task_id}.json`);
  expect(receipt.body).toMatchObject({ payment_ref: `base:${hash}`, legs: [{ ref: `base:${hash}` }, {}] });
  expect(await house.toWinner()).toEqual([hash]);
});

it('on Solana: a fork takes it away, and the job is to be paid again', async () => {
  const house = await openHouse();
  const { service, poster, winner, pay, legOne } = house;
  const { svm } = service;
  const [paying, paid_to] = [await svm.newWallet(), await svm.newWallet(1n)];
  const { job_id } = (await house.post(poster)).body;
  const payout = await payoutOf(paid_to.signer, { job_id, agent_id: winner.agent_id });
  const { bid_id } = (await house.bid(winner, job_id, { price: String(SOLANA_PRICE), payout })).body;
  expect((await house.step(poster, job_id, 'pick', { bid_id })).status).toBe(200);
  expect((await house.step(winner, job_id, 'deliver', { output_sha256: sha256('done') })).status).toBe(200);
  const client = new x402Client().register('solana:*', new ExactSvmScheme(paying.signer, { rpcUrl: svm.rpc_url }));
  const asked = decodePaymentRequiredHeader((await pay(job_id)).headers.get('PAYMENT-REQUIRED') ?? '');
  const first = { 'PAYMENT-SIGNATURE': encodePaymentSignatureHeader(await client.createPaymentPayload(asked)) };
  expect((await pay(job_id, first)).status).toBe(402);
  const [transfer] = (await svm.transfers(paid_to.address)).filter(({ from }) => from === paying.address);
  expect(await legOne(job_id)).toEqual({ status: 'settled', payment_ref: `solana:${transfer?.signature}` });

  await house.aboutToLose(1);
  // Must happen before the slot is final, because a transfer on the finalized chain is not checked again.
  await svm.forget(transfer?.signature ?? '');
  await svm.expire();
  await svm.advance(100);
  const refused = await pay(job_id);
  expect([refused.status, refused.body.code]).toEqual([409, 'job_leg_in_flight']);
  await house.until(async () => (await legOne(job_id)).status === 'unpaid');
  expect(await house.reserved()).toBe(0n);
  expect((await pay(job_id)).body.accepts).toMatchObject([
    { payTo: paid_to.address, maxAmountRequired: String(SOLANA_PRICE) },
  ]);
});
