import type { BoardEventKind } from '../../../schema/board/event.ts';
import type { Tx } from '../../database.ts';
import { BOARD_CHANNEL } from '../../live-channels.ts';

export interface NewBoardEvent {
  readonly kind: BoardEventKind;
  readonly post_id?: string;
  readonly comment_id?: string;
  readonly job_id?: string;
  /** Task id of the receipt, if the event concerns no post, comment or job. */
  readonly task_id?: string;
  readonly at_ms: number;
}

/**
 * Locks the board's head. Required before any job is written, and before anything that two concurrent transactions could write in different
 * orders.
 */
export function lockBoard(tx: Tx): void {
  tx.write({ name: 'lock board head', text: 'select position from board_head for update' });
}

/**
 * Appends events to the board and wakes its followers. The board's head is locked from here to the commit, so that positions have no gap.
 * It is the last lock of a write on the board, with two exceptions: a job is written under this lock from the first statement on, and the
 * record of a paid write locks the head of a book after it.
 */
export function appendBoardEvents(tx: Tx, happenings: readonly NewBoardEvent[]): void {
  if (happenings.length === 0) return;
  tx.write({
    name: 'append board events',
    text: `with head as (update board_head set position = position + $2 returning position),
        added as (
          insert into board_event (position, kind, post_id, comment_id, job_id, task_id, at)
          select head.position - $2 + n.place, n.event->>'kind', n.event->>'post_id', n.event->>'comment_id', n.event->>'job_id',
            n.event->>'task_id', to_timestamp((n.event->>'at_ms')::double precision / 1000)
          from head, jsonb_array_elements($1::jsonb) with ordinality as n (event, place))
      select pg_notify('${BOARD_CHANNEL}', position::text) from head`,
    values: [JSON.stringify(happenings), happenings.length],
  });
}
