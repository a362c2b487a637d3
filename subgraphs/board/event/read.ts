import { shareNextRun } from '../../coalesce.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database } from '../../database.ts';
import { type ReadEvents, shareReads } from '../../live-feed.ts';
import { requireNotHalted } from '../../receipt/log/halt-guard.ts';
import { BoardEvent } from './board-event.entity.ts';

/** Key by which reads of the board's events are shared. There is only one key, because there is only one board. */
export type BoardKey = 'board';

/** Position of the board's newest event. 0 if there is none. */
export async function boardPosition(database: Database): Promise<number> {
  const text = 'select position from board_head';
  const [head] = await database.query<{ position: number }>({ name: 'board position', text });
  return head?.position ?? 0;
}

/** Time of the last event on the board. Null if there is none. */
export async function boardChanged(database: Database): Promise<Date | null> {
  const text = 'select at from board_event order by position desc limit 1';
  const [newest] = await database.query<{ at: Date }>({ name: 'board changed', text });
  return newest?.at ?? null;
}

/**
 * Longest time, in seconds, for which changes without an event may go unnoticed: further likes within a minute, and jobs that end by the
 * clock.
 */
const UNTOLD_SECONDS_MAX = 10;

/** Returns a reader of a value that changes whenever the board has changed. One read serves all concurrent callers. @throws DatabaseAway */
export function openBoardVersion(database: Database): () => Promise<string> {
  const text = `select position, floor(extract(epoch from clock_timestamp()) / ${UNTOLD_SECONDS_MAX})::bigint as turn
    from board_head`;
  return shareNextRun(async () => {
    // A cached response is returned by this value alone, so a halt must be noticed here.
    requireNotHalted(database);
    const [head] = await database.query<{ position: number; turn: number }>({ name: 'board version', text });
    return head ? `${head.position}.${head.turn}` : '';
  });
}

/** Returns the reader of live feeds of one process. Equal reads that overlap are shared. */
export function openBoardEvents(database: Database): ReadEvents<BoardKey, BoardEvent> {
  const text = `select ${selectList(BoardEvent)} from board_event where position > $1 order by position limit $2`;
  return shareReads(async (_, after, limit) => {
    const found = await database.query({ name: 'board events after', text, values: [after, limit] });
    return found.map(event => asEntity(BoardEvent, event));
  });
}
