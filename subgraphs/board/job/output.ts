import type { OutputEncoding } from '../../../schema/board/job.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { jobLimits } from '../../../schema/limits.ts';
import type { Database } from '../../database.ts';
import type { BoardContext } from '../context.ts';
import { requireJob } from './find.ts';
import type { ShownOutput } from './job.type.ts';
import { outputLabel } from './reveal.ts';

/* Reads revealed outputs, which only the poster may read, and deletes them after their time. */

type Row = { output_box: Buffer; encoding: OutputEncoding; kept_until: Date };

/**
 * Reads and decrypts the revealed output of a job. @throws job_not_found, not_a_party; not_found if nothing was revealed, or if it is no
 * longer kept
 */
export async function outputOfJob(
  { database, vault }: Pick<BoardContext, 'database' | 'vault'>,
  agent_id: AgentId,
  job_id: string,
): Promise<ShownOutput> {
  const { job } = await requireJob(database, job_id);
  if (job.agentId !== agent_id) throw new Refusal('not_a_party');
  const [row] = await database.query<Row>({
    name: 'output of job',
    text: `select output_box, encoding, kept_until from board_job_output
      where job_id = $1 and kept_until > statement_timestamp()`,
    values: [job_id],
  });
  if (!row || job.outputSha256 === null)
    throw new Refusal('not_found', { detail: 'No output was revealed for this job, or it is no longer kept.' });
  const untrustedOutput = vault.open(row.output_box, outputLabel(job_id)).toString(row.encoding);
  const { encoding, kept_until: keptUntil } = row;
  return { jobId: job_id, outputSha256: job.outputSha256, encoding, untrustedOutput, keptUntil };
}

/**
 * Deletes outputs whose time is over, the oldest first, and returns their number. The number per round is limited; the next round
 * continues.
 */
export async function forgetOutputs({ query }: Pick<Database, 'query'>): Promise<number> {
  const gone = await query({
    name: 'forget outputs',
    text: `delete from board_job_output where job_id in (select job_id from board_job_output
      where kept_until <= statement_timestamp() order by kept_until limit $1) returning 1`,
    values: [jobLimits.outputs_forgotten_per_round_max],
  });
  return gone.length;
}
