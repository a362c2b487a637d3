import type { JobState } from '../../../schema/board/job.ts';
import { RawJson } from '../../../schema/json-text.ts';
import { jobLimits } from '../../../schema/limits.ts';
import type { JobPage } from '../../../schema/requests/board-job.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database } from '../../database.ts';
import type { BoardContext } from '../context.ts';
import { limitedRows, pageColumns, pageStatement, readPage } from '../written-list.ts';
import { BoardBid } from './bid.entity.ts';
import { type FoundRow, foundColumns, foundFacts, foundJob, OVER, REFUSED_BEFORE } from './find.ts';
import { SHOWN } from './job.entity.ts';
import { bidStateBy, expiringStates } from './job.machine.ts';
import type { ShownBid, ShownJob } from './job.type.ts';
import { bidView, jobView } from './view.ts';

type Reading = Pick<Database, 'query'>;

/** A page of jobs, newest first, and the start of the next page. */
export interface PageOfJobs {
  readonly asked: JobPage;
  readonly jobs: RawJson | readonly ShownJob[];
  readonly next: string | null;
}

/** By a keyset, so that a page costs the same at any depth. One row more than shown tells whether there is a next page. */
export async function listJobs(
  { query }: Reading,
  asked: JobPage,
): Promise<PageOfJobs & { readonly jobs: readonly ShownJob[] }> {
  const limit = limitOf(asked);
  const { name, select, values } = pageOfJobs(asked, 1);
  const rows = await query<FoundRow>({
    name,
    text: select({ columns: foundColumns(), id: '"jobId"' }),
    values: [limit + 1, ...values],
  });
  const jobs = rows.slice(0, limit).map(row => jobView(foundJob(row)));
  return { asked, jobs, next: rows.length > limit ? (jobs.at(-1)?.jobId ?? null) : null };
}

/** What the SQL expressions of job-json.ts need beside the row. */
export interface JobWritingGiven extends Pick<BoardContext, 'base_url' | 'treasuries'> {
  /** SQL expression over the row `r`. */
  readonly job: string;
}

/** The same as JSON, by one statement, which reads all that is shown. */
export async function writtenJobs(
  database: Reading,
  asked: JobPage,
  { job, base_url, treasuries }: JobWritingGiven,
): Promise<PageOfJobs & { readonly jobs: RawJson }> {
  const { name, select, values } = pageOfJobs(asked, 3);
  const statement = pageStatement(name, job, () => {
    const columns = pageColumns({ item: job, id: 'job_id', order: 'desc', rows: '$3' });
    const rows = select({ columns: `*, ${foundFacts()}`, id: 'job_id' });
    return `select ${columns} from (${rows}) r where $1::text is not null and $2::jsonb is not null`;
  });
  const given = [base_url, JSON.stringify(treasuries), limitOf(asked) + 1, ...values];
  const found = await readPage(database, statement, given);
  return { asked, jobs: found?.items ?? new RawJson('[]'), next: found?.next ?? null };
}

const limitOf = ({ limit = jobLimits.page_default }: JobPage): number => Math.min(limit, jobLimits.page_max);

/**
 * The statement for the newest jobs, as many as the parameter with the number `limit` says. Each filter has its own statement, so that each
 * is planned by its own index. With an agent and a status, the jobs of the agent are searched one by one. A job that is over is no longer
 * listed as open but as ended, even if that is not recorded yet. Such jobs are few, because every round records them.
 */
function pageOfJobs({ status, before, poster_agent_id, winner_agent_id }: JobPage, limit: number) {
  const agents = [
    { name: 'poster', column: 'agent_id', value: poster_agent_id },
    { name: 'winner', column: 'winner_agent_id', value: winner_agent_id },
  ].filter(({ value }) => value !== undefined);
  const values: (string | readonly number[])[] = agents.map(({ value }) => [value ?? 0]);
  const older = before === undefined ? '' : ` and job_id < $${values.push(before) + limit}`;
  const of_agents = agents.map(({ column }, at) => ` and ${column} = any($${limit + at + 1}::integer[])`).join('');
  const by_agent = agents[0] ? `${agents[0].column} desc, ` : '';
  const names = [...(status ? [status] : []), ...(older ? ['older'] : []), ...agents.map(({ name }) => name)];
  const select = ({ columns, id }: { readonly columns: string; readonly id: string }): string => {
    const rows = (ordered: string) => limitedRows(ordered, jobLimits.page_max + 1, `$${limit}`);
    const pageOf = (where: string, order = `${by_agent}job_id desc`) =>
      rows(`select ${columns} from board_job where ${SHOWN} and ${where}${of_agents}${older} order by ${order}`);
    // In the order of the index of states, and without `=`, like pages of posts: see post/list.ts.
    const pageIn = (state: JobState, and = '') => pageOf(`state = any('{${state}}')${and}`, 'state desc, job_id desc');
    const over = `state = any('{${expiringStates.join(',')}}') and ${OVER}`;
    const over_as: { readonly [S in JobState]?: string } = {
      expired: `${over} and not ${REFUSED_BEFORE}`,
      refused: `${over} and ${REFUSED_BEFORE}`,
    };
    const not_over = (state: JobState) => (expiringStates.includes(state) ? ` and not coalesce(${OVER}, false)` : '');
    if (status === undefined) return pageOf('true');
    const unwritten = over_as[status];
    if (by_agent) return pageOf(`(state = '${status}'${not_over(status)}${unwritten ? ` or ${unwritten}` : ''})`);
    if (unwritten === undefined) return pageIn(status, not_over(status));
    return rows(`select * from ((${pageIn(status)}) union all (${pageOf(unwritten)})) job order by ${id} desc`);
  };
  return { name: ['board jobs', ...names].join(' '), select, values };
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
