import type { JobState } from '../../../schema/board/job.ts';
import { jobLimits } from '../../../schema/board/job-limits.ts';
import type { JobPage } from '../../../schema/requests/board-job.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database } from '../../database.ts';
import { BoardBid } from './bid.entity.ts';
import { type FoundRow, foundColumns, foundJob, OVER } from './find.ts';
import { SHOWN } from './job.entity.ts';
import { bidStateBy, expiringStates } from './job.machine.ts';
import type { ShownBid, ShownJob, ShownJobs } from './job.type.ts';
import { bidView, jobView } from './view.ts';

type Reading = Pick<Database, 'query'>;

/** Newest first: a page by its key, at the same cost at any depth. One more than are shown says whether there is a next one. */
export async function listJobs({ query }: Reading, page: JobPage): Promise<ShownJobs> {
  const size = Math.min(page.limit ?? jobLimits.page_default, jobLimits.page_max);
  const { name, text, values } = pageOfJobs(foundColumns(), page);
  const rows = await query<FoundRow>({ name, text, values: [size + 1, ...values] });
  const jobs = rows.slice(0, size).map(row => jobView(foundJob(row)));
  return { jobs, next: rows.length > size ? (jobs.at(-1)?.jobId ?? null) : null };
}

/**
 * A statement of its own for each filter, so that each is planned along its own index. What is over and not written down as
 * that yet is no more among the open ones, but among those that have expired: few, since every round writes them down.
 */
function pageOfJobs(columns: string, { status, before }: Pick<JobPage, 'status' | 'before'>) {
  const older = before === undefined ? '' : ' and job_id < $2';
  const pageOf = (where: string, order = 'job_id desc') =>
    `select ${columns} from board_job where ${SHOWN} and ${where}${older} order by ${order} limit $1`;
  // In the order of the index of states, and not through `=`, as pages of posts are: see post/list.ts.
  const pageIn = (state: JobState, and = '') => pageOf(`state = any('{${state}}')${and}`, 'state desc, job_id desc');
  const over = pageOf(`state = any('{${expiringStates.join(',')}}') and ${OVER}`);
  const byStatus = (state: JobState): string => {
    if (state === 'expired')
      return `select * from ((${pageIn(state)}) union all (${over})) job order by "jobId" desc limit $1`;
    return pageIn(state, expiringStates.includes(state) ? ` and not coalesce(${OVER}, false)` : '');
  };
  return {
    name: ['board jobs', ...(status ? [status] : []), ...(older ? ['older'] : [])].join(' '),
    text: status === undefined ? pageOf('true') : byStatus(status),
    values: before === undefined ? [] : [before],
  };
}

/** Those of them that everybody may see. */
export async function shownJobs({ query }: Reading, job_ids: readonly string[]): Promise<readonly ShownJob[]> {
  const rows = await query<FoundRow>({
    name: 'board jobs by id',
    text: `select ${foundColumns()} from board_job where job_id = any($1) and ${SHOWN}`,
    values: [job_ids],
  });
  return rows.map(row => jobView(foundJob(row)));
}

/** Of one job, oldest first. */
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
