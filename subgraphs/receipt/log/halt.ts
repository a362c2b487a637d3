import type { Database } from '../../database.ts';
import { BatchRefused } from '../../group-commit.ts';
import { LOG_CHANNEL } from '../../live-channels.ts';
import { type BrokenBooks, booksSentence } from './broken-books.ts';
import { type HeadName, LOG_ID } from './tree-head.ts';

/** A head that was signed, and one that was found and does not extend it; or books that do not continue what was committed. */
export interface Mismatch {
  readonly known: HeadName;
  readonly found: HeadName;
  /** Absent if the log itself is another one. If present, both heads are the newest known one. */
  readonly books?: BrokenBooks;
}

/** As stored in the database, for every process that takes the log's head. */
export interface LogHalt extends Mismatch {
  /** ISO 8601. */
  readonly at: string;
  /** The process that found it: host and number. */
  readonly by: string;
}

/** Nothing is appended to this log any more. Whatever money has moved is recorded once its break is accepted. */
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

/** The notice on the channel besides heads. */
export const HALT_NOTICE = 'halt';

export interface HaltAnnouncement {
  /** Whether a break was declared since. Then the halt is not written again, and this process must be restarted. */
  readonly accepted: boolean;
}

/**
 * Writes the halt unless there is one, and notifies all processes, in one statement. It is stored in the head's own row: a statement that
 * waited for the lock reads that row in its newest state, which is true of no other table.
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

/** The number of the newest break; 0 if none was ever declared. */
export async function newestBreak(database: Database): Promise<number> {
  const [row] = await database.query<{ newest: number }>({
    text: 'select coalesce(max(break_id), 0) as newest from log_break',
  });
  return row?.newest ?? 0;
}
