import { beforeAll, expect, it } from 'vitest';
import { atomicAmount } from '../../../../schema/amount.ts';
import { agentId } from '../../../../schema/ids.ts';
import { nobody } from '../../../../schema/principal.ts';
import { type JobLegs, legsOf } from '../../../../subgraphs/board/job/legs.ts';
import { winnersLeg } from '../../../../subgraphs/board/job/pay.paid.ts';
import type { Context } from '../../../../subgraphs/context.ts';
import { jobTable, OUTPUT_SHA256 } from '../../../harness/board/job-table.ts';
import { freshStore } from '../../../harness/store.ts';

const [POSTER, WINNER] = [1, 2];
let database: Awaited<ReturnType<typeof freshStore>>;
let table: ReturnType<typeof jobTable>;
beforeAll(async () => {
  database = await freshStore();
  table = jobTable(database);
});

async function delivered() {
  const job_id = await table.post(POSTER);
  const { bid_id } = (await table.bid(WINNER, job_id)) ?? {};
  await table.pick(POSTER, job_id, String(bid_id));
  await table.deliver(WINNER, job_id);
  const { job } = await table.read(job_id);
  const legs = legsOf(job);
  if (legs === null) throw new Error(`${job_id} has nobody to pay`);
  return { job_id, legs, delivery: job };
}

type DeliveredJob = Awaited<ReturnType<typeof delivered>>;

/** The payer's answer from the check just before the payment for these legs is claimed. */
const claimedFor = (
  { job_id, delivery }: Omit<DeliveredJob, 'legs'>,
  legs: JobLegs,
  args: { output_sha256?: string } = {},
) =>
  winnersLeg({ legs, delivery, resource: undefined }).admit?.(
    { agent_id: agentId(POSTER), job_id, ...args },
    { network: 'base', wallet: `0x${'9'.repeat(40)}` } as never,
    { database, principal: nobody } as unknown as Context,
  );

it('a payment is claimed for what was frozen at the pick, and for no other payee, price or network', async () => {
  const { legs, ...of } = await delivered();
  await claimedFor(of, legs);
  const { winner, fee } = legs;
  for (const other of [
    { ...winner, pay_to: `0x${'8'.repeat(40)}` },
    { ...winner, amount_atomic: atomicAmount(winner.amount_atomic - 1n) },
    { ...winner, network: 'solana' as const },
  ])
    await expect(claimedFor(of, { winner: other, fee })).rejects.toMatchObject({ code: 'job_state_conflict' });
  await expect(
    claimedFor(of, { winner, fee: { amount_atomic: atomicAmount(fee.amount_atomic - 1n) } }),
  ).rejects.toMatchObject({ code: 'job_state_conflict' });
});

it('a payment is claimed for what was delivered as it was asked for, by the hash that it names, and for no other', async () => {
  const { legs, ...of } = await delivered();
  await claimedFor(of, legs, { output_sha256: OUTPUT_SHA256 });
  const differs = { code: 'job_output_differs', extensions: { output_sha256: OUTPUT_SHA256, charged: false } };
  await expect(claimedFor(of, legs, { output_sha256: 'f'.repeat(64) })).rejects.toMatchObject(differs);
  await table.deliver(WINNER, of.job_id, 'f'.repeat(64));
  await expect(claimedFor(of, legs)).rejects.toMatchObject({ code: 'job_state_conflict' });
  await expect(claimedFor(of, legs, { output_sha256: OUTPUT_SHA256 })).rejects.toMatchObject({
    code: 'job_output_differs',
  });
});
