import type { JobState } from '../../../schema/board/job.ts';
import { jobLimits } from '../../../schema/limits.ts';
import type { JobPage } from '../../../schema/requests/board-job.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database } from '../../database.ts';
import { BoardBid } from './bid.entity.ts';
import { type FoundRow, foundColumns, foundJob, OVER, REFUSED_BEFORE } from './find.ts';
import { SHOWN } from './job.entity.ts';
import { bidStateBy, expiringStates } from './job.machine.ts';
import type { ShownBid, ShownJob, ShownJobs } from './job.type.ts';
import { bidView, jobView } from './view.ts';

type Reading = Pick<Database, 'query'>;

/**
 * Reads a page of jobs, newest first, by keyset, so that a page costs the same at any depth. One row more than is shown is read, to find
 * out whether there is a next page.
 */
export async function listJobs({ query }: Reading, page: JobPage): Promise<ShownJobs> {
  const size = Math.min(page.limit ?? jobLimits.page_default, jobLimits.page_max);
  const { name, text, values } = pageOfJobs(foundColumns(), page);
  const rows = await query<FoundRow>({ name, text, values: [size + 1, ...values] });
  const jobs = rows.slice(0, size).map(row => jobView(foundJob(row)));
  return { jobs, next: rows.length > size ? (jobs.at(-1)?.jobId ?? null) : null };
}

/**
 * The statement for a page of jobs. Each filter has its own statement, so that Postgres plans each with the index of that filter. With an
 * agent and a status, the jobs of the agent are searched one by one.
 * A job whose time is over is listed as ended, also if that is not recorded yet. There are only a few such jobs, because every round
 * records them.
 */
function pageOfJobs(columns: string, { status, before, poster_agent_id, winner_agent_id }: Omit<JobPage, 'limit'>) {
  const agents = [
    { name: 'poster', column: 'agent_id', value: poster_agent_id },
    { name: 'winner', column: 'winner_agent_id', value: winner_agent_id },
  ].filter(({ value }) => value !== undefined);
  const values: (string | readonly number[])[] = agents.map(({ value }) => [value ?? 0]);
  const older = before === undefined ? '' : ` and job_id < $${values.push(before) + 1}`;
  const of_agents = agents.map(({ column }, at) => ` and ${column} = any($${at + 2}::integer[])`).join('');
  const by_agent = agents[0] ? `${agents[0].column} desc, ` : '';
  const pageOf = (where: string, order = `${by_agent}job_id desc`) =>
    `select ${columns} from board_job where ${SHOWN} and ${where}${of_agents}${older} order by ${order} limit $1`;
  // The order is that of the index of states. `any` is used instead of `=` for the same reason as in pages of posts: see post/list.ts.
  const pageIn = (state: JobState, and = '') => pageOf(`state = any('{${state}}')${and}`, 'state desc, job_id desc');
  const over = `state = any('{${expiringStates.join(',')}}') and ${OVER}`;
  const over_as: { readonly [S in JobState]?: string } = {
    expired: `${over} and not ${REFUSED_BEFORE}`,
    refused: `${over} and ${REFUSED_BEFORE}`,
  };
  const not_over = (state: JobState) => (expiringStates.includes(state) ? ` and not coalesce(${OVER}, false)` : '');
  const byStatus = (state: JobState): string => {
    const unwritten = over_as[state];
    if (by_agent) return pageOf(`(state = '${state}'${not_over(state)}${unwritten ? ` or ${unwritten}` : ''})`);
    if (unwritten !== undefined)
      return `select * from ((${pageIn(state)}) union all (${pageOf(unwritten)})) job order by "jobId" desc limit $1`;
    return pageIn(state, not_over(state));
  };
  const names = [...(status ? [status] : []), ...(older ? ['older'] : []), ...agents.map(({ name }) => name)];
  return {
    name: ['board jobs', ...names].join(' '),
    text: status === undefined ? pageOf('true') : byStatus(status),
    values,
  };
}

/** The jobs with these ids, without hidden ones. */
export async function shownJobs({ query }: Reading, job_ids: readonly string[]): Promise<readonly ShownJob[]> {
  const rows = await query<FoundRow>({
    name: 'board jobs by id',
    text: `select ${foundColumns()} from board_job where job_id = any($1) and ${SHOWN}`,
    values: [job_ids],
  });
  return rows.map(row => jobView(foundJob(row)));
}

/** Bids on one job, oldest first. */
export async function bidsOfJob(
  { query }: Reading,
  { jobId, status }: Pick<ShownJob, 'jobId' | 'status'>,
): Promise<readonly ShownBid[]> {
  const rows = await query({
    name: 'bids of job',
    text: `select ${selectList(BoardBid)} from board_bid where job_id = $1 order by bid_id limit $2`,
    values: [jobId, jobLimits.bids_shown_max],
  });
  const bids = rows.map(row => asEntity(BoardBid, row));
  return bids.map(bid => ({ ...bidView(bid), status: bidStateBy(bid.state, status) }));
}
