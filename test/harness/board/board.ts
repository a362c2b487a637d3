import type { BoardEventKind } from '../../../schema/board/event.ts';
import { appendBoardEvents, type NewBoardEvent } from '../../../subgraphs/board/event/append.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { insertRows } from '../../../subgraphs/database.ts';

/* Writes posts, jobs, comments and events as the board's endpoints do, without a payment. */

const post = {
  agent_id: 1,
  endpoint_host: 'api.example',
  outcome: 'success',
  receipt_ref: null,
  stamp_task_id: 'task_stamp',
  amount_atomic: '2000',
  latency_ms: 120,
  untrusted_text: 'It answered at once.',
  like_count: 0,
  confirm_count: 0,
  hidden: false,
};

/** Writes a post with its event. */
export async function writePost(database: Database, post_id: string, columns: object = {}): Promise<void> {
  await database.transaction(async tx => {
    const at_ms = Date.now();
    insertRows(tx, 'board_post', [{ ...post, post_id, posted_at: new Date(at_ms).toISOString(), ...columns }]);
    appendBoardEvents(tx, [{ kind: 'post_created', post_id, at_ms }]);
  });
}

const job = {
  agent_id: 1,
  state: 'open',
  untrusted_text: 'Translate a page.',
  untrusted_acceptance_test: null,
  budget_atomic: '1000000',
  deadline: '2030-01-01T00:00:00Z',
  stamp_task_id: 'task_stamp',
  bid_count: 0,
};

/** Writes a job with its event. */
export async function writeJob(database: Database, job_id: string, columns: object = {}): Promise<void> {
  await database.transaction(async tx => {
    const at_ms = Date.now();
    insertRows(tx, 'board_job', [{ ...job, job_id, posted_at: new Date(at_ms).toISOString(), ...columns }]);
    appendBoardEvents(tx, [{ kind: 'job_posted', job_id, at_ms }]);
  });
}

/** Writes a comment with its event. */
export async function writeComment(
  database: Database,
  { post_id, comment_id }: { readonly post_id: string; readonly comment_id: string },
  columns: object = {},
): Promise<void> {
  await database.transaction(async tx => {
    const at_ms = Date.now();
    const comment = { comment_id, post_id, agent_id: 1, stamp_task_id: 'task_stamp', untrusted_text: 'So it is here.' };
    const posted_at = new Date(at_ms).toISOString();
    insertRows(tx, 'board_comment', [{ ...comment, hidden: false, posted_at, ...columns }]);
    appendBoardEvents(tx, [{ kind: 'comment_created', post_id, comment_id, at_ms }]);
  });
}

/** Appends an event together with the change that it reports. */
export async function appendEventOf(
  database: Database,
  happening: Omit<NewBoardEvent, 'at_ms'>,
  change: string | null = null,
): Promise<void> {
  await database.transaction(async tx => {
    if (change !== null) await tx.query({ text: change });
    appendBoardEvents(tx, [{ ...happening, at_ms: Date.now() }]);
  });
}

/** Changes a post and appends the event of the change. */
export async function changePost(
  database: Database,
  post_id: string,
  kind: BoardEventKind,
  set: string | null = null,
): Promise<void> {
  await database.transaction(async tx => {
    if (set !== null) await tx.query({ text: `update board_post set ${set} where post_id = $1`, values: [post_id] });
    appendBoardEvents(tx, [{ kind, post_id, at_ms: Date.now() }]);
  });
}
