import { jobLimits } from '../../../schema/board/job-limits.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { ShownJob } from './job.type.ts';
import { type Acting, requirePart, takeStep } from './step.ts';

/** What a winner says of the output before they are paid. */
interface DeliveredHash {
  readonly job_id: string;
  /** 64 hex digits, lower case. */
  readonly output_sha256: string;
  readonly preview: string | null;
}

/** Delivers by a hash, once. From then on the poster has until some days after the deadline to pay. @throws as takeStep; forbidden */
export async function deliverJob(
  acting: Acting,
  agent_id: AgentId,
  { job_id, output_sha256, preview }: DeliveredHash,
): Promise<ShownJob> {
  await requirePart(acting, agent_id, job_id, 'deliver');
  return takeStep(acting, agent_id, job_id, {
    action: 'deliver',
    event: 'job_delivered',
    taken: (job, state) =>
      job.outputSha256 === output_sha256 && job.untrustedPreview === preview && state !== 'expired',
    take: (_tx, { deadline }, now_ms) => ({
      outputSha256: output_sha256,
      untrustedPreview: preview,
      deliveredAt: new Date(now_ms),
      endsAt: new Date(deadline.getTime() + jobLimits.pay_within_seconds * 1_000),
    }),
  });
}
