import type { KnownBooks } from '../../subgraphs/book/heads/known-books.ts';
import type { Clock, Random } from '../../subgraphs/clock.ts';
import type { Database } from '../../subgraphs/database.ts';
import type { Issuer } from '../../subgraphs/receipt/issuer/signing-keys.ts';
import type { KnownLog } from '../../subgraphs/receipt/log/known-log.ts';
import type { SavedHead } from '../../subgraphs/receipt/log/saved-head.ts';
import type { Vault } from '../../subgraphs/vault.ts';
import type { LogStanding, OpenedLog } from '../log/open-log.ts';
import type { Faults } from '../operations/faults.ts';
import type { Rails } from '../rails/rail.ts';

/**
 * Everything outside a call that it works on. It is passed along whole, so that no step has to list what it takes of it; no feature adds
 * a member.
 */
export interface Ground {
  readonly database: Database;
  readonly rails: Rails;
  readonly log: CallLog;
  readonly issuer: Issuer;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly random: Random;
  /** Points at which a test may end the process; null in production. */
  readonly faults: Faults | null;
}

/**
 * The log as a call sees it. While it is unsound no payment is accepted, because its record could not be relied on. While it is halted
 * nothing is recorded or released either: the database has gone back, and its state of payments may be old.
 */
export interface CallLog extends LogStanding {
  /** What this process knows to be signed: a batch extends no other log. */
  readonly known: KnownLog;
  /** The newest head, outside the database. */
  readonly saved_head: SavedHead;
  /** The same two for books. */
  readonly books: Pick<KnownBooks, 'whenSaved'>;
}

/** For steps that ask only whether the log is halted. */
export interface HaltedLog {
  readonly log: Pick<CallLog, 'halt'>;
}

/** @param standing whether the log may be relied on, the chain's part included */
export function callLog(standing: LogStanding, { known, saved_head, books }: OpenedLog): CallLog {
  return {
    known,
    saved_head,
    books,
    get sound() {
      return standing.sound;
    },
    get halt() {
      return standing.halt;
    },
    get signs() {
      return standing.signs;
    },
  };
}
