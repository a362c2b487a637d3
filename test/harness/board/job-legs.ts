import { createHash } from 'node:crypto';
import type { Hex } from 'viem';
import { type AtomicAmount, atomicAmount } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { newBuyer, type Order, send } from '../faults/buyer.ts';
import type { Ground } from '../faults/ground.ts';
import type { RunningService } from '../worker-gateway.ts';

const feeOf = (price: bigint) => atomicAmount(2_000n + (price + 99n) / 100n);

export type JobParties = Awaited<ReturnType<typeof openJobParties>>;

/** An agent that posts jobs and another that wins them, with delivered jobs that await both payments. */
export async function openJobParties(ground: Ground, living: RunningService) {
  /** Price of the newest job. Each job has another price, so that a test can match a payment to its job. */
  let last_price = 1_000_000n;
  const newParty = async () => {
    const account = await ground.chain.newWallet();
    const buyer = await newBuyer(ground, account);
    const { session } = (await send(living, await buyer.registration())).body as Record<string, string>;
    return { address: account.address, buyer, session: String(session) };
  };
  type Party = Awaited<ReturnType<typeof newParty>>;
  // In sequence, because payments that run in parallel may or may not share a settlement and a tree head.
  const poster = await newParty();
  const winner = await newParty();
  const stamp = async ({ buyer, session }: Party, path: string, body: JsonObject) => {
    const answer = await send(living, { ...(await buyer.pay(path, body)), session });
    if (answer.status !== 201) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body as Record<string, string>;
  };
  const act = async ({ session }: Party, path: string, body: JsonObject): Promise<void> => {
    const headers = { 'content-type': 'application/json', 'x-svc-session': session };
    const answer = await fetch(living.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (answer.status !== 200) throw new Error(`${path}: ${await answer.text()}`);
  };
  return {
    poster,
    /** A delivered job, ready to be paid for. */
    async newJob() {
      last_price += 100n;
      const price = atomicAmount(last_price);
      const deadline = new Date(Date.now() + 86_400_000).toISOString();
      const { job_id } = await stamp(poster, '/v1/board/jobs', { text: 'Do this', budget: '2000000', deadline });
      const path = `/v1/board/jobs/${job_id}`;
      const { bid_id } = await stamp(winner, `${path}/bid`, { price: String(price) });
      await act(poster, `${path}/pick`, { bid_id: String(bid_id) });
      const output_sha256 = createHash('sha256').update('done').digest('hex');
      await act(winner, `${path}/deliver`, { output_sha256 });
      const order = async (pay_to: Hex, amount_atomic: AtomicAmount, valid_seconds = 90): Promise<Order> => ({
        ...(await poster.buyer.payAs(`${path}/pay`, { pay_to, amount_atomic }, valid_seconds)),
        session: poster.session,
      });
      return {
        path,
        first: (valid_seconds?: number) => order(winner.address, price, valid_seconds),
        fee: () => order(ground.pay_to, feeOf(price)),
        /** Number of transfers of either payment, and number of books that contain the receipt. */
        async moved({ payout }: JsonObject) {
          const [to_winner, to_us] = await Promise.all([winner.address, ground.pay_to].map(ground.chain.transfers));
          const { task_id } = payout as { task_id: string };
          const text = 'select agent_id from book_row where task_id = $1';
          return [
            (to_winner ?? []).filter(it => it.amount_atomic === price).length,
            (to_us ?? []).filter(it => it.amount_atomic === feeOf(price)).length,
            (await ground.database.query({ text, values: [task_id] })).length,
          ];
        },
      };
    },
  };
}
