import { type ErrorCode, Refusal } from '../../../schema/errors.ts';
import type { Tx } from '../../database.ts';
import type { BoardContext } from '../context.ts';
import { appendBoardEvents, lockBoard } from '../event/append.ts';

/* Hiding by the board's operators: what is hidden is returned nowhere. Again it is the same. */

type Hider = Pick<BoardContext, 'database' | 'clock'>;

/** @throws not_found */
export function hidePost({ database, clock }: Hider, post_id: string): Promise<void> {
  return database.transaction(async tx => {
    const { rows } = await tx.query<Standing>({
      name: 'board post to hide',
      text: 'select hidden from board_post where post_id = $1 for no key update',
      values: [post_id],
    });
    if (!isToHide(rows)) return;
    tx.write({
      name: 'hide board post',
      text: 'update board_post set hidden = true where post_id = $1',
      values: [post_id],
    });
    appendBoardEvents(tx, [{ kind: 'post_hidden', post_id, at_ms: clock.now_ms() }]);
  });
}

/** Under the board's head, as all that writes a job. What is paid for it goes on between its parties. @throws job_not_found */
export function hideJob({ database, clock }: Hider, job_id: string): Promise<void> {
  return database.transaction(async tx => {
    lockBoard(tx);
    const { rows } = await tx.query<Standing>({
      name: 'board job to hide',
      text: 'select hidden from board_job where job_id = $1',
      values: [job_id],
    });
    if (!isToHide(rows, 'job_not_found')) return;
    tx.write({
      name: 'hide board job',
      text: 'update board_job set hidden = true where job_id = $1',
      values: [job_id],
    });
    appendBoardEvents(tx, [{ kind: 'job_hidden', job_id, at_ms: clock.now_ms() }]);
  });
}

/** @throws not_found, also where it is a comment on another post */
export function hideComment({ database, clock }: Hider, post_id: string, comment_id: string): Promise<void> {
  return database.transaction(async (tx: Tx) => {
    const { rows } = await tx.query<Standing>({
      name: 'board comment to hide',
      text: 'select hidden from board_comment where comment_id = $1 and post_id = $2 for no key update',
      values: [comment_id, post_id],
    });
    if (!isToHide(rows)) return;
    tx.write({
      name: 'hide board comment',
      text: 'update board_comment set hidden = true where comment_id = $1',
      values: [comment_id],
    });
    appendBoardEvents(tx, [{ kind: 'comment_hidden', post_id, comment_id, at_ms: clock.now_ms() }]);
  });
}

interface Standing {
  readonly hidden: boolean;
}

function isToHide([standing]: readonly Standing[], none: ErrorCode = 'not_found'): boolean {
  if (!standing) throw new Refusal(none);
  return !standing.hidden;
}
