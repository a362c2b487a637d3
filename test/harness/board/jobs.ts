import { createHash } from 'node:crypto';
import { getBase58Decoder, type KeyPairSigner, signBytes } from '@solana/kit';
import { expect } from 'vitest';
import type { z } from 'zod';
import { openStore } from '../../../gateway/parts.ts';
import type {
  JobBidNoun,
  JobNoun,
  JobOutputNoun,
  JobPageNoun,
  JobWithBidsNoun,
  PostedJobNoun,
} from '../../../schema/board/job.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { payoutText } from '../../../subgraphs/board/job/bid.paid.ts';
import { markLegOne, markPaid } from '../../../subgraphs/board/job/mark-paid.ts';
import { nowSeconds, payingFetch } from '../buyer.ts';
import type { Service } from '../doors/open-service.ts';
import { atEnd } from '../release.ts';
import { audience } from '../signing-audience.ts';
import { openSolanaService } from '../solana/open-service.ts';

export const JOBS = '/v1/board/jobs';
export const OPS_SECRET = `ops-${'o'.repeat(48)}`;
export const DAY_MS = 86_400_000;

export type JobAgent = Awaited<ReturnType<Service['newAgent']>>;
type Bid = z.infer<typeof JobBidNoun>;
type JobAnswer = z.infer<typeof JobNoun>;

/** Body of a job that any agent can bid on. */
export function jobOf(members: JsonObject = {}): JsonObject {
  const deadline = new Date(Date.now() + DAY_MS).toISOString();
  return { text: 'Sum up the three newest papers on tidal power', budget: '5000000', deadline, ...members };
}

export const sha256 = (output: string | Uint8Array): string => createHash('sha256').update(output).digest('hex');

/** The service with a Solana stand-in that no other test uses, and three agents on its board. */
export async function openJobs(
  environment: Readonly<Record<string, string>> = {},
  options: Parameters<typeof openSolanaService>[1] = {},
) {
  const keys = { DEMO_KEYS: 'a-demo-key', WAIVER_KEYS: 'a-waiver-key', BOARD_OPS_SECRET: OPS_SECRET };
  const service = await openSolanaService({ ...keys, ...environment }, options);
  const store = await openStore(service.database_url);
  atEnd(() => store.close());
  const poster = await service.newAgent();
  const winner = await service.newAgent();
  const other = await service.newAgent();
  const by = ({ session }: Pick<JobAgent, 'session'>) => ({ 'X-SVC-Session': session });
  const stamped = <T>(who: JobAgent, path: string, body: JsonObject) =>
    service.knock<T>('POST', path, { body, headers: by(who), by: payingFetch(who.account) });
  const post = (who: JobAgent, members: JsonObject = {}) =>
    stamped<z.infer<typeof PostedJobNoun>>(who, JOBS, jobOf(members));
  const bid = (who: JobAgent, job_id: string, body: JsonObject = { price: '1500001' }) =>
    stamped<Bid>(who, `${JOBS}/${job_id}/bid`, body);
  const step = (who: JobAgent, job_id: string, action: string, body: JsonObject = {}) =>
    service.post<JobAnswer>(`${JOBS}/${job_id}/${action}`, body, by(who));
  const read = async (job_id: string) => (await service.get<z.infer<typeof JobWithBidsNoun>>(`${JOBS}/${job_id}`)).body;
  /** Marks a job as paid. Uses the functions that record its two payments. */
  const paid = (job_id: string, task_id: string) =>
    store.transaction(async tx => {
      markLegOne(tx, job_id, { task_id, payment_ref: `base:0x${'1'.repeat(64)}` });
      await markPaid(tx, job_id, { task_id, fee_ref: null, at_ms: Date.now() });
    });
  /** A job in that state. Its payment is recorded under the task of its stamp. */
  async function brought(state: 'open' | 'picked' | 'delivered' | 'paid', output = 'The whole of it') {
    const posted = await post(poster);
    const { job_id } = posted.body;
    const offered = await bid(winner, job_id);
    const { bid_id } = offered.body;
    expect([posted.status, offered.status], `${posted.text} ${offered.text}`).toEqual([201, 201]);
    if (state !== 'open') expect((await step(poster, job_id, 'pick', { bid_id })).status).toBe(200);
    if (state === 'delivered' || state === 'paid')
      expect((await step(winner, job_id, 'deliver', { output_sha256: sha256(output) })).status).toBe(200);
    if (state === 'paid') await paid(job_id, job_id.replace('job_', 'task_'));
    return { job_id, bid_id };
  }
  return {
    service,
    store,
    poster,
    winner,
    other,
    by,
    stamped,
    post,
    bid,
    step,
    read,
    paid,
    brought,
    list: async (query = '') => (await service.get<z.infer<typeof JobPageNoun>>(`${JOBS}${query}`)).body,
    output: (who: JobAgent, job_id: string) =>
      service.get<z.infer<typeof JobOutputNoun>>(`${JOBS}/${job_id}/output`, by(who)),
    /** Moves the end of the job's current state into the past, by the database's clock. */
    pass: (job_id: string) =>
      service.query(`update board_job set ends_at = clock_timestamp() - interval '1 second' where job_id = $1`, [
        job_id,
      ]),
    kindsOf: async (job_id: string) =>
      (
        await service.query<{ kind: string }>('select kind from board_event where job_id = $1 order by position', [
          job_id,
        ])
      ).map(({ kind }) => kind),
  };
}

/** A payout with a signature that proves control of its address. A test can pass an `at` that is out of date. */
export async function payoutOf(
  { address, keyPair }: KeyPairSigner,
  { job_id, agent_id, at = nowSeconds() }: { readonly job_id: string; readonly agent_id: number; readonly at?: number },
): Promise<JsonObject> {
  const text = new TextEncoder().encode(payoutText(audience(), { job_id, agent_id, address }, at));
  const signature = getBase58Decoder().decode(await signBytes(keyPair.privateKey, text));
  return { network: 'solana', address, signature, signature_timestamp: at };
}
