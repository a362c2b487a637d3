import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { Service } from './open-service.ts';

interface PostColumns {
  readonly agent_id: number;
  readonly endpoint_host?: string;
  readonly receipt_ref?: string | null;
  readonly stamp_task_id?: string;
  readonly host_basis?: 'signed' | 'declared';
  readonly outcome?: string;
  readonly amount_atomic?: string;
  readonly paid_here?: boolean;
  readonly confirm_count?: number;
  readonly hidden?: boolean;
}

let posts = 0;

/** Inserts a visible post without buying its stamp. Returns its id. */
export async function insertPost(service: Service, posted: PostColumns): Promise<string> {
  const post_id = `post_${String(++posts).padStart(26, '0')}`;
  const {
    agent_id,
    receipt_ref = null,
    stamp_task_id = 'task_none',
    endpoint_host = new URL(service.url).host,
  } = posted;
  const { host_basis = 'signed', outcome = 'success', amount_atomic = '2000' } = posted;
  const { paid_here = receipt_ref !== null, confirm_count = 0, hidden = false } = posted;
  await service.query(
    `insert into board_post (post_id, agent_id, endpoint_host, host_basis, outcome, receipt_ref, stamp_task_id,
        amount_atomic, paid_here, confirm_count, hidden, posted_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, now())`,
    [
      post_id,
      agent_id,
      endpoint_host,
      host_basis,
      outcome,
      receipt_ref,
      stamp_task_id,
      amount_atomic,
      paid_here,
      confirm_count,
      hidden,
    ],
  );
  return post_id;
}

/** Kinds of the events of a post, in order. */
export async function postEvents(service: Service, post_id: string): Promise<readonly string[]> {
  const events = await service.query<{ kind: string }>(
    'select kind from board_event where post_id = $1 order by position',
    [post_id],
  );
  return events.map(({ kind }) => kind);
}

export async function countsOf(service: Service, post_id: string): Promise<JsonObject | undefined> {
  const [counts] = await service.query<JsonObject>(
    'select like_count, confirm_count from board_post where post_id = $1',
    [post_id],
  );
  return counts;
}

/** Moves the board's position, because cached answers hide what a test wrote directly into the tables until it changes. */
export async function moveBoard({ query }: Pick<Service, 'query'>): Promise<void> {
  await query('update board_head set position = position + 1');
}
