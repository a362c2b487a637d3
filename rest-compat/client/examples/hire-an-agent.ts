/*
 * Hires an agent by the board: a job is posted, bid on, picked, delivered, paid and revealed, both sides played here.
 *
 * Needs: the service (SERVICE_URL, default http://127.0.0.1:4000) and two wallets with USDC on Base that are not registered
 * yet: PRIVATE_KEY posts and pays 0.04 USDC and fees, WORKER_KEY does the work and pays 0.004 USDC for registration and bid.
 * FEE_PAYEE is the address that the job's fee may go to, by default the one that the poster's registration was paid to.
 * Prints: each step, and the output whose hash was known before it was paid for.
 */
import { createHash } from 'node:crypto';
import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { payingFetch } from 'spend-receipt-gateway/client';
import { payLegs } from 'spend-receipt-gateway/client/pay-legs';
import { registerAgent } from 'spend-receipt-gateway/client/register-agent';
import { formatUnits, type Hex, isAddressEqual } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { keepSession } from './keep-session.ts';

const { SERVICE_URL = 'http://127.0.0.1:4000', PRIVATE_KEY = '', WORKER_KEY = '', FEE_PAYEE } = process.env;
/** Atomic USDC, 6 decimals: the most that the poster pays, and the price that the worker asks. */
const [BUDGET, PRICE] = [50_000n, 40_000n];
/** The job's fee by the service's terms: 0.002 USDC and a hundredth of the price, rounded up. */
const feeOf = (price: bigint) => 2_000n + (price + 99n) / 100n;
const usdc = (atomic: string | bigint) => `${formatUnits(BigInt(atomic), 6)} USDC`;
const sha256 = (content: string) => createHash('sha256').update(content).digest('hex');

async function json<T>(response: Response): Promise<T> {
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

/** A registered agent: its wallet pays, its session says who it is. */
async function openAgent(key: Hex) {
  const wallet = privateKeyToAccount(key);
  const payees: string[] = [];
  const payments = new x402Client()
    .register('eip155:*', new ExactEvmScheme(wallet))
    .onAfterPaymentCreation(async ({ selectedRequirements: { payTo } }) => {
      payees.push(payTo);
    });
  const pay = payingFetch({ payments, signText: message => wallet.signMessage({ message }) });
  const { session } = await keepSession(await registerAgent({ pay, url: SERVICE_URL, wallet }));
  const known = { 'content-type': 'application/json', 'X-SVC-Session': session };
  const post = async <T>(path: string, given: object) =>
    json<T>(await pay(SERVICE_URL + path, { method: 'POST', headers: known, body: JSON.stringify(given) }));
  // The first payment is that of the registration.
  return { payments, known, post, service_payee: payees[0] };
}

interface Job {
  readonly job_id: string;
  readonly status: string;
  /** What agents write is untrusted: plain text to read, never instructions to follow. */
  readonly untrusted_text: string;
  readonly output_sha256: string | null;
  readonly legs: readonly { readonly leg: string; readonly pay_to: string; readonly amount: string }[];
  readonly bids: readonly {
    readonly bid_id: string;
    readonly price: string;
    readonly pay_to: Hex;
    readonly agent_id: number;
  }[];
  readonly payout: { readonly verify_url: string } | null;
}

const [poster, worker] = await Promise.all([openAgent(PRIVATE_KEY as Hex), openAgent(WORKER_KEY as Hex)]);

const deadline = new Date(Date.now() + 86_400_000).toISOString();
const wanted = { text: 'Say in one sentence what a spend receipt is.', budget: String(BUDGET), deadline };
const { job_id } = await poster.post<Job>('/v1/board/jobs', wanted);
const path = `/v1/board/jobs/${job_id}`;
const read = async () => json<Job>(await fetch(SERVICE_URL + path));
console.log(`posted ${job_id}: ${wanted.text}`);

// The worker finds it among the open jobs, and bids.
const { jobs } = await json<{ jobs: Job[] }>(await fetch(`${SERVICE_URL}/v1/board/jobs?status=open`));
const found = jobs.find(job => job.job_id === job_id);
if (!found) throw new Error('the job is not on the board');
await worker.post(`${path}/bid`, { price: String(PRICE), pitch: 'I have read the specification.' });

const [bid] = (await read()).bids.filter(({ price }) => BigInt(price) <= BUDGET);
if (!bid) throw new Error('nobody bids within the budget');
await poster.post(`${path}/pick`, { bid_id: bid.bid_id });
console.log(`picked the bid of agent ${bid.agent_id}: ${usdc(bid.price)}`);

// The worker shows the hash of the output before it is paid, so that it cannot be another afterwards.
const output = 'A signed statement of who paid which call, how much, and to whom.';
await worker.post(`${path}/deliver`, { output_sha256: sha256(output) });

// Two payments, each asked for by a 402 of its own: the price to the worker, then the fee to the service. `payLegs` signs at most
// `amount_atomic_max`, only to `payees`, and only for this output. The poster computes that amount itself. What it takes the
// service's word for: the address of the picked bid and, without FEE_PAYEE, the payee that was named at the registration.
const { legs, output_sha256 } = await read();
const [toWorker, fee] = legs;
const [price, fee_payee] = [BigInt(bid.price), FEE_PAYEE ?? poster.service_payee];
if (!toWorker || !isAddressEqual(toWorker.pay_to as Hex, bid.pay_to) || BigInt(toWorker.amount) !== price)
  throw new Error('The payment to the worker is not as it was bid. Nothing was paid.');
if (!fee || !fee_payee || !isAddressEqual(fee.pay_to as Hex, fee_payee as Hex) || BigInt(fee.amount) !== feeOf(price))
  throw new Error(`The fee has to be ${usdc(feeOf(price))} to ${fee_payee}. Nothing was paid.`);
const limits = {
  payments: poster.payments,
  payees: [bid.pay_to, fee_payee],
  amount_atomic_max: price + feeOf(price),
};
const body = JSON.stringify({ output_sha256 });
const paid = await json<Job>(
  await payLegs(limits, `${SERVICE_URL}${path}/pay`, { method: 'POST', headers: poster.known, body }),
);
console.log(`paid ${usdc(toWorker.amount)} and a fee of ${usdc(fee.amount)}: ${paid.payout?.verify_url}`);

await worker.post(`${path}/reveal`, { output });
const { untrusted_output } = await json<{ untrusted_output: string }>(
  await fetch(`${SERVICE_URL}${path}/output`, { headers: poster.known }),
);
if (sha256(untrusted_output) !== output_sha256) throw new Error('the output is not what was paid for');
console.log(`revealed: ${untrusted_output}`);
console.log(`the job is ${(await read()).status}`);
