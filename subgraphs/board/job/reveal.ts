import { createHash } from 'node:crypto';
import type { OutputEncoding } from '../../../schema/board/job.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { jobLimits } from '../../../schema/limits.ts';
import type { BoardContext } from '../context.ts';
import { countJobs } from './agent-day.ts';
import type { ShownJob } from './job.type.ts';
import { requirePart, type StepContext, takeStep } from './step.ts';

/* Takes the output of a paid job, checks its SHA-256 and closes the job. */

/** An output as its winner sends it. */
export interface OutputReveal {
  readonly job_id: string;
  readonly output: string;
  readonly encoding: OutputEncoding;
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Decoders by encoding. Each returns null if the text is not valid in that encoding. */
const bytesBy: Readonly<Record<OutputEncoding, (text: string) => Buffer | null>> = {
  utf8: text => (text.isWellFormed() ? Buffer.from(text, 'utf8') : null),
  base64: text => (BASE64.test(text) ? Buffer.from(text, 'base64') : null),
};

/** Label that binds the encrypted bytes to their job. */
export const outputLabel = (job_id: string): string => `board-output:${job_id}`;

/**
 * Takes the output of a paid job, whose bytes must have the delivered hash, and closes the job. The bytes are encrypted before anything is
 * locked, and only the poster can read them. @throws the errors of takeStep; not_a_party, invalid_request, output_mismatch,
 * request_too_large
 */
export async function revealJob(
  acting: StepContext & Pick<BoardContext, 'vault'>,
  agent_id: AgentId,
  { job_id, output, encoding }: OutputReveal,
): Promise<ShownJob> {
  const { outputSha256, state } = await requirePart(acting, agent_id, job_id, 'reveal');
  const bytes = bytesOf(output, encoding);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (outputSha256 !== null && outputSha256 !== sha256) throw new Refusal('output_mismatch', { param: 'output' });
  const output_box = state === 'paid' ? acting.vault.seal(bytes, outputLabel(job_id)) : null;
  return takeStep(acting, agent_id, job_id, {
    action: 'reveal',
    event: () => 'job_closed',
    wasTaken: job => job.state === 'closed' && job.outputSha256 === sha256,
    take(tx, { winnerAgentId }, now_ms) {
      countJobs(tx, [{ agent_id: winnerAgentId, counter: 'jobs_closed' }], now_ms);
      tx.write({
        name: 'keep output of job',
        text: `insert into board_job_output (job_id, output_box, encoding, kept_until)
          values ($1, $2, $3, to_timestamp($4::float8 / 1000))`,
        // If the job was paid after it was read above, which is rare, the output is encrypted only here.
        values: [
          job_id,
          output_box ?? acting.vault.seal(bytes, outputLabel(job_id)),
          encoding,
          now_ms + jobLimits.output_kept_seconds * 1_000,
        ],
      });
      return { closedAt: new Date(now_ms) };
    },
  });
}

function bytesOf(output: string, encoding: OutputEncoding): Buffer {
  const bytes = bytesBy[encoding](output);
  if (bytes === null)
    throw new Refusal('invalid_request', { param: 'output', detail: `output is not valid ${encoding}.` });
  if (bytes.length <= jobLimits.output_bytes_max) return bytes;
  throw new Refusal('request_too_large', {
    param: 'output',
    detail: `output must not be longer than ${jobLimits.output_bytes_max} bytes.`,
  });
}
