import { type ErrorCode, Refusal } from '../../../schema/errors.ts';
import type { Tx } from '../../database.ts';
import type { BoardContext } from '../context.ts';
import { appendBoardEvents, lockBoard } from '../event/append.ts';

/* Hiding by the board's operators. Readers do not see a hidden entry until it is unhidden. A repeated request changes nothing. */

type Hider = Pick<BoardContext, 'database' | 'clock'>;

/** Hides a post, or shows it again. @throws not_found */
export function hidePost({ database, clock }: Hider, post_id: string, hidden: boolean): Promise<void> {
  return database.transaction(async tx => {
    const { rows } = await tx.query<Standing>({
      name: 'board post to hide',
      text: 'select hidden from board_post where post_id = $1 for no key update',
      values: [post_id],
    });
    if (isAlready(rows, hidden)) return;
    tx.write({
      name: 'hide board post',
      text: 'update board_post set hidden = $2 where post_id = $1',
      values: [post_id, hidden],
    });
    appendBoardEvents(tx, [{ kind: hidden ? 'post_hidden' : 'post_unhidden', post_id, at_ms: clock.now_ms() }]);
  });
}

/**
 * Hides a job, or shows it again. It locks the board's head, as every writer of a job must. The parties of a hidden job can still pay and
 * be paid. @throws job_not_found
 */
export function hideJob({ database, clock }: Hider, job_id: string, hidden: boolean): Promise<void> {
  return database.transaction(async tx => {
    lockBoard(tx);
    const { rows } = await tx.query<Standing>({
      name: 'board job to hide',
      text: 'select hidden from board_job where job_id = $1',
      values: [job_id],
    });
    if (isAlready(rows, hidden, 'job_not_found')) return;
    tx.write({
      name: 'hide board job',
      text: 'update board_job set hidden = $2 where job_id = $1',
      values: [job_id, hidden],
    });
    appendBoardEvents(tx, [{ kind: hidden ? 'job_hidden' : 'job_unhidden', job_id, at_ms: clock.now_ms() }]);
  });
}

interface CommentNamed {
  readonly post_id: string;
  readonly comment_id: string;
}

/** Hides a comment, or shows it again. @throws not_found, also for a comment on another post */
export function hideComment(
  { database, clock }: Hider,
  { post_id, comment_id }: CommentNamed,
  hidden: boolean,
): Promise<void> {
  return database.transaction(async (tx: Tx) => {
    const { rows } = await tx.query<Standing>({
      name: 'board comment to hide',
      text: 'select hidden from board_comment where comment_id = $1 and post_id = $2 for no key update',
      values: [comment_id, post_id],
    });
    if (isAlready(rows, hidden)) return;
    tx.write({
      name: 'hide board comment',
      text: 'update board_comment set hidden = $2 where comment_id = $1',
      values: [comment_id, hidden],
    });
    const kind = hidden ? 'comment_hidden' : 'comment_unhidden';
    appendBoardEvents(tx, [{ kind, post_id, comment_id, at_ms: clock.now_ms() }]);
  });
}

interface Standing {
  readonly hidden: boolean;
}

function isAlready([standing]: readonly Standing[], hidden: boolean, none: ErrorCode = 'not_found'): boolean {
  if (!standing) throw new Refusal(none);
  return standing.hidden === hidden;
}
