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

/** Everything outside a call that the call works on, the same for all calls of a process. No feature adds a member. */
export interface Ground {
  readonly database: Database;
  readonly rails: Rails;
  readonly log: CallLog;
  readonly issuer: Issuer;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly random: Random;
  /** Points at which a test may end the process. Null in production. */
  readonly faults: Faults | null;
}

/**
 * The log as a call sees it. While it is unsound, no payment is accepted, because its record could not be relied on. While it is halted,
 * nothing is recorded or released either: the database was restored to an older state, so its claims may be outdated.
 */
export interface CallLog extends LogStanding {
  /** The heads that this process knows to be signed. A batch extends no other log. */
  readonly known: KnownLog;
  /** The newest head that is saved outside the database. */
  readonly saved_head: SavedHead;
  /** The known and the saved heads of books. */
  readonly books: Pick<KnownBooks, 'whenSaved'>;
}

/** The log, for steps that only check whether it is halted. */
export interface HaltedLog {
  readonly log: Pick<CallLog, 'halt'>;
}

/** Combines what a call needs of the log. @param standing whether the log may be relied on, including its anchor on the chain */
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
