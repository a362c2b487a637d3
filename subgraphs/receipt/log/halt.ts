import type { Database } from '../../database.ts';
import { BatchRefused } from '../../group-commit.ts';
import { LOG_CHANNEL } from '../../live-channels.ts';
import { type BrokenBooks, booksSentence } from './broken-books.ts';
import { type HeadName, LOG_ID } from './tree-head.ts';

/** A head that was signed, and a stored head that does not extend it; or books that do not continue what was committed. */
export interface Mismatch {
  readonly known: HeadName;
  readonly found: HeadName;
  /** Absent if the log itself does not match. If present, both heads are the newest known one. */
  readonly books?: BrokenBooks;
}

/** A halt as it is stored in the database, for every process that locks the log's head. */
export interface LogHalt extends Mismatch {
  /** Time at which the mismatch was found (ISO 8601). */
  readonly at: string;
  /** Process that found the mismatch: host name and process id. */
  readonly by: string;
}

/** The log is halted, so nothing is appended to it. Money that has moved is recorded once the break of the log is declared. */
export class LogHalted extends BatchRefused {
  readonly mismatch: Mismatch;

  constructor(mismatch: Mismatch) {
    super('unavailable', { cause: new Error(mismatchSentence(mismatch)) });
    this.mismatch = mismatch;
  }
}

export function mismatchSentence({ known, found, books }: Mismatch): string {
  if (books) return booksSentence(books);
  return `the log does not extend what was signed: known is size ${known.tree_size}, root ${known.root_hash}; \
found is size ${found.tree_size}, root ${found.root_hash}`;
}

/** Notice of a halt on the log's channel. All other notices on it are commits. */
export const HALT_NOTICE = 'halt';

export interface HaltAnnouncement {
  /** Whether a break was declared since `breaks_before` was read. The halt is then not stored again, and this process must be restarted. */
  readonly accepted: boolean;
}

/**
 * Stores the halt unless one is stored already, and notifies all processes, in one statement. The halt is in the row of the log's head: a
 * statement that waited for the lock of that row reads its newest state, which it does not for rows of other tables.
 */
export async function announceHalt(
  database: Database,
  halt: LogHalt,
  breaks_before: number,
): Promise<HaltAnnouncement> {
  const [row] = await database.query<HaltAnnouncement>({
    name: 'announce log halt',
    text: `with accepted as (select exists (select 1 from log_break where break_id > $3) as accepted),
      written as (update log_head set halted = $2 where log_id = $1 and halted is null and not (select accepted from accepted))
      select accepted, pg_notify('${LOG_CHANNEL}', '${HALT_NOTICE}') from accepted`,
    values: [LOG_ID, JSON.stringify(halt), breaks_before],
  });
  return { accepted: row?.accepted ?? false };
}

/** Number of the newest break; 0 if none was ever declared. */
export async function newestBreak(database: Database): Promise<number> {
  const [row] = await database.query<{ newest: number }>({
    text: 'select coalesce(max(break_id), 0) as newest from log_break',
  });
  return row?.newest ?? 0;
}
