import { createHash } from 'node:crypto';
import { type AgentId, agentId } from '../../../schema/ids.ts';
import { nobody } from '../../../schema/principal.ts';
import type { BoardContext } from '../../../subgraphs/board/context.ts';
import { bidOnJobPaid } from '../../../subgraphs/board/job/bid.paid.ts';
import { deliverJob } from '../../../subgraphs/board/job/deliver.ts';
import { requireJob } from '../../../subgraphs/board/job/find.ts';
import { bidsOfJob } from '../../../subgraphs/board/job/list.ts';
import { markLegOne, markPaid, payableJob } from '../../../subgraphs/board/job/mark-paid.ts';
import { cancelJob, pickBid } from '../../../subgraphs/board/job/pick.ts';
import { postJobPaid } from '../../../subgraphs/board/job/post.paid.ts';
import { challengeJob, refuseDelivery } from '../../../subgraphs/board/job/refuse.ts';
import { revealJob } from '../../../subgraphs/board/job/reveal.ts';
import { jobView } from '../../../subgraphs/board/job/view.ts';
import { systemClock, systemRandom } from '../../../subgraphs/clock.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { newTask } from '../../../subgraphs/new-task.ts';
import { openVault } from '../../../subgraphs/vault.ts';
import { claim, claimRequest } from '../claim/fixture.ts';

export const SEALED_BY = 'a seal key of tests';
export const OUTPUT = 'What was asked for';
export const OUTPUT_SHA256 = createHash('sha256').update(OUTPUT).digest('hex');

/** Jobs in a database, changed by the same functions as in the service, but without a chain and without a gateway. */
export function jobTable(database: Database) {
  const vault = openVault(SEALED_BY);
  const walletOfAgent = async (id: AgentId) => `0x${String(id).padStart(40, '0')}`;
  const payout_accounts = { look: async () => 'stands' as const };
  const acting = { database, vault, walletOfAgent, payout_accounts, clock: systemClock };
  const context = {
    ...acting,
    principal: nobody,
    transfers: { signed: async () => 'valid' },
  } as unknown as BoardContext;
  const task = () => newTask({ clock: systemClock, random: systemRandom });
  const stampedBy = (agent: number, task_id = task()) => ({
    task_id,
    payer: null,
    agent_id: agentId(agent),
    payment_ref: null,
    transfer: null,
    recorded_at_ms: Date.now(),
  });
  const argsOf = (agent: number, job_id: string, price: string) => ({
    agent_id: agentId(agent),
    job_id,
    price,
    eta: null,
    pitch: null,
    payout: null,
  });
  return {
    acting,
    vault,
    post: async (agent: number, budget = '1000000'): Promise<string> => {
      const deadline = new Date(Date.now() + 86_400_000).toISOString();
      const args = { agent_id: agentId(agent), text: 'A job', budget, deadline, acceptance_test: null };
      const posted = await database.transaction(tx => postJobPaid.commit(tx, args, stampedBy(agent), null));
      return String(posted.job_id);
    },
    /**
     * Makes a bid as a paid call does: finds the job, claims the slot, then records the bid. Null if another claim has the slot. @throws
     * Refusal
     */
    async bid(agent: number, job_id: string, price = '1000') {
      const args = argsOf(agent, job_id, price);
      const found = await bidOnJobPaid.find?.(args, null, context, { until_ms: 0, allowed_models: null });
      const task_id = task();
      const [claimed] = await claim(database, claimRequest(task_id, { task_id, slots: found?.slots ?? [] }));
      if (claimed?.kind === 'slot_taken') return null;
      const commit = bidOnJobPaid.commit;
      return database.transaction(tx => commit(tx, args, stampedBy(agent, task_id), found?.fact ?? null));
    },
    /** Records a bid at the price and revision that an earlier read of the job found, though the job may have changed since. */
    recordLate: (agent: number, job_id: string, { price, revision }: { price: string; revision: number }) => {
      const fact = { revision, network: 'base', pay_to: `0x${String(agent).padStart(40, '0')}` } as const;
      const args = argsOf(agent, job_id, price);
      return database.transaction(tx => bidOnJobPaid.commit(tx, args, stampedBy(agent), fact));
    },
    pick: (agent: number, job_id: string, bid_id: string) => pickBid(acting, agentId(agent), { job_id, bid_id }),
    deliver: (agent: number, job_id: string, output_sha256 = OUTPUT_SHA256) =>
      deliverJob(acting, agentId(agent), { job_id, output_sha256, preview: null }),
    refuse: (agent: number, job_id: string, output_sha256 = OUTPUT_SHA256) =>
      refuseDelivery(acting, agentId(agent), { job_id, output_sha256, reason: 'It is not what was asked for' }),
    cancel: (agent: number, job_id: string) => cancelJob(acting, agentId(agent), job_id),
    /** Records both payments of a job. */
    async pay(job_id: string): Promise<void> {
      await payableJob(database, job_id);
      await settle(job_id);
    },
    settle,
    challenge: (agent: number, job_id: string) => challengeJob(acting, agentId(agent), { job_id, reason: null }),
    reveal: (agent: number, job_id: string, output = OUTPUT) =>
      revealJob(acting, agentId(agent), { job_id, output, encoding: 'utf8' }),
    read: (job_id: string) => requireJob(database, job_id),
    bids: async (job_id: string) => bidsOfJob(database, jobView(await requireJob(database, job_id))),
    /** Moves the deadline into the past by the database's clock. The time to pay for the job is left as it is. */
    passDeadline: (job_id: string) =>
      database.query({
        text: `update board_job set deadline = clock_timestamp() - interval '1 second' where job_id = $1`,
        values: [job_id],
      }),
    /** Moves the end of the job's current state into the past, by the database's clock. */
    pass: (job_id: string) =>
      database.query({
        text: `update board_job set ends_at = clock_timestamp() - interval '1 second'
          where job_id = $1 and ends_at is not null`,
        values: [job_id],
      }),
    kinds: async (job_id: string) =>
      (
        await database.query<{ kind: string }>({
          text: 'select kind from board_event where job_id = $1 order by position',
          values: [job_id],
        })
      ).map(({ kind }) => kind),
  };

  function settle(job_id: string): Promise<void> {
    return database.transaction(async tx => {
      markLegOne(tx, job_id, { task_id: `task_of_${job_id}`, payment_ref: 'base:0x1' });
      await markPaid(tx, job_id, { task_id: `task_of_${job_id}`, fee_ref: 'base:0x2', at_ms: Date.now() });
    });
  }
}
