import { jobLimits } from '../../../schema/board/job-limits.ts';
import type { JobPage } from '../../../schema/requests/board-job.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database } from '../../database.ts';
import { BoardBid } from './bid.entity.ts';
import { UNDER_WAY } from './find.ts';
import { BoardJob, SHOWN } from './job.entity.ts';
import type { ShownBid, ShownJobs } from './job.type.ts';
import { bidView, jobView } from './view.ts';

type Row = { under_way: boolean };

/** Newest first: a page by its key, at the same cost at any depth. One more than are shown says whether there is a next one. */
export async function listJobs(
  { orm, query }: Pick<Database, 'orm' | 'query'>,
  { status, limit, before }: JobPage,
): Promise<ShownJobs> {
  const size = Math.min(limit ?? jobLimits.page_default, jobLimits.page_max);
  // A statement of its own for each, so that each is planned along its own index.
  const bounds = [
    ...(status === undefined ? [] : [{ name: 'by status', text: 'state = $2', value: status }]),
    ...(before === undefined
      ? []
      : [{ name: 'older', text: `job_id < $${status === undefined ? 2 : 3}`, value: before }]),
  ];
  const where = [SHOWN, ...bounds.map(({ text }) => text)].join(' and ');
  const rows = await query<Row>({
    name: ['board jobs', ...bounds.map(({ name }) => name)].join(' '),
    text: `select ${selectList(orm, BoardJob)}, ${UNDER_WAY} as under_way from board_job where ${where}
      order by job_id desc limit $1`,
    values: [size + 1, ...bounds.map(({ value }) => value)],
  });
  const jobs = rows.slice(0, size).map(({ under_way, ...row }) => jobView(asEntity(BoardJob, row), under_way));
  return { jobs, next: rows.length > size ? (jobs.at(-1)?.jobId ?? null) : null };
}

/** Of one job, oldest first. */
export async function bidsOfJob(
  { orm, query }: Pick<Database, 'orm' | 'query'>,
  job_id: string,
): Promise<readonly ShownBid[]> {
  const rows = await query({
    name: 'bids of job',
    text: `select ${selectList(orm, BoardBid)} from board_bid where job_id = $1 order by bid_id limit $2`,
    values: [job_id, jobLimits.bids_shown_max],
  });
  return rows.map(row => bidView(asEntity(BoardBid, row)));
}
