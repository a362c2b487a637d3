import type { JsonObject } from '../../schema/canonical-json.ts';
import { Refusal } from '../../schema/errors.ts';
import type { TaskId } from '../../schema/ids.ts';
import { limits } from '../../schema/limits.ts';
import type { AnsweredAgain } from '../../schema/receipt-shapes.ts';
import { type AnswerEnd, WHOLE } from '../../subgraphs/answer-end.ts';
import { correct } from '../../subgraphs/book/ledger/correct.ts';
import { type Clock, iso } from '../../subgraphs/clock.ts';
import type { Database, Tx } from '../../subgraphs/database.ts';
import {
  dropRerun,
  keepRerun,
  type LostRerun,
  type RerunHold,
  renewRerun,
  takeRerun,
} from '../../subgraphs/receipt/claim/rerun.ts';
import { setAnsweredAgain } from '../../subgraphs/receipt/receipt/unsigned-facts.ts';
import type { AnyPaid, Route, Work } from '../../subgraphs/sale.ts';
import type { Vault } from '../../subgraphs/vault.ts';
import type { LogStanding } from '../log/open-log.ts';
import type { ReleaseLater } from './release-later.ts';
import { sealAnswer } from './settle-claim.ts';

export interface Reruns {
  readonly database: Database;
  readonly vault: Pick<Vault, 'seal'>;
  readonly owner: string;
  readonly later: ReleaseLater;
  /** While the log is halted nothing is written, and a hold ends with the lease of its process. */
  readonly log: Pick<LogStanding, 'halt'>;
  readonly clock: Clock;
}

/**
 * Work that is done again for money without a whole answer: the hub broke off, the process died in a stream, or someone else
 * submitted the payment after its release. Free, and by one process at a time.
 */
export interface Rerun {
  readonly kind: 'begun';
  /** Number of the payment's rerun, from 1. One that this service ended early is not counted. */
  readonly number: number;
  /** Before anything is sent: whether this process still holds the payment. */
  holdOn(): Promise<'held' | LostRerun>;
  /** Stores the answer for redelivery if no better one can follow, and corrects the row if it is whole. */
  keep(work: Work<JsonObject>): Promise<EndedRerun>;
  /** Lets the next resend try. Never throws: a hold that cannot be dropped now is dropped once the database is back. */
  giveUp(): Promise<void>;
}

interface EndedRerun {
  /** Null if nothing was to be stored. */
  readonly kept: 'kept' | LostRerun | null;
  /** How many more reruns the payment has. */
  readonly left: number;
  /** What its receipt shows of it from now on; null if the answer is not whole. */
  readonly answered_again: AnsweredAgain | null;
}

type Begun =
  | Rerun
  /** Another process was faster. */
  | { readonly kind: 'kept' }
  | { readonly kind: 'held' }
  | { readonly kind: 'gone' };

export async function beginRerun(reruns: Reruns, { order }: AnyPaid, claim_key: string): Promise<Begun> {
  // A stamp takes effect once and is never repeated.
  if (order === 'stamp') return { kind: 'gone' };
  const hold = { claim_key, owner: reruns.owner };
  const taken = await reruns.database.transaction(tx => takeRerun(tx, hold));
  return taken.kind === 'taken' ? rerunOf(reruns, hold, taken) : taken;
}

/**
 * How many reruns remain after an answer that broke off; `spent`: how many there were, this one included. What a limit of this
 * service or the request itself has ended would end so again.
 */
export function rerunsLeft(end: AnswerEnd, spent: number): number {
  const may_rerun = end.kind === 'broke_off' && (end.by === 'hub' || end.by === 'stop');
  return may_rerun ? Math.max(0, limits.reruns_max - spent) : 0;
}

function rerunOf(
  { database, vault, later, log, clock }: Reruns,
  hold: RerunHold,
  { task_id, reruns }: { readonly task_id: TaskId; readonly reruns: number },
): Rerun {
  const number = reruns + 1;
  const drop = (counts: boolean) => {
    const dropped = async () => {
      if (log.halt === null) await database.transaction(tx => dropRerun(tx, hold, counts));
    };
    return dropped().catch(() => later.add(dropped));
  };
  // The halt may come during the work.
  const writing = <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
    database.transaction(async tx => {
      const done = await work(tx);
      if (log.halt !== null) throw new Refusal('unavailable');
      return done;
    });
  const keepIn = (tx: Tx, answer: JsonObject) => keepRerun(tx, hold, sealAnswer(vault, task_id, answer));
  return {
    kind: 'begun',
    number,
    giveUp: async () => drop(false),
    holdOn: () => writing(tx => renewRerun(tx, hold)),
    async keep({ answer, route, output_sha256, end = WHOLE }) {
      if (end.kind === 'broke_off') {
        const counts = end.by !== 'stop';
        const left = rerunsLeft(end, counts ? number : reruns);
        const kept = left > 0 ? null : await writing(tx => keepIn(tx, answer));
        if (left > 0) await drop(counts);
        return { kept, left, answered_again: null };
      }
      const brought = { output_sha256, ...answererOf(route) };
      const answered_again = { at: iso(clock.now_ms()), rerun: number, ...brought };
      const kept = await writing(async tx => {
        const done = await keepIn(tx, answer);
        if (done !== 'kept') return done;
        await correct(tx, [{ task_id, body: { reason: 'answered_on_resend', ...brought } }]);
        setAnsweredAgain(tx, task_id, answered_again);
        return done;
      });
      return { kept, left: 0, answered_again: kept === 'kept' ? answered_again : null };
    },
  };
}

/** Row and receipt name who answered first, or nobody. */
function answererOf({ hub, model, answered_model = null, answered_catalogue_model = null }: Route) {
  return { hub, model, answered_model, answered_catalogue_model };
}
