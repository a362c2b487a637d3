import type { JsonObject } from '../../schema/canonical-json.ts';
import { Refusal } from '../../schema/errors.ts';
import type { TaskId } from '../../schema/ids.ts';
import { correct } from '../../subgraphs/book/ledger/correct.ts';
import { dropRerun, keepRerun, type RerunHold, takeRerun } from '../../subgraphs/receipt/claim/rerun.ts';
import type { Work } from '../../subgraphs/sale.ts';
import type { AnyPaid } from '../record/recorder.ts';
import { sealAnswer } from './settle-claim.ts';
import type { Till } from './till.ts';

/**
 * Work that is done once more for money that came without an answer: its process died in a stream, or somebody else
 * submitted the payment after we had let go of it. Free, and by one process at a time.
 */
export interface Rerun {
  /** Keeps the answer for redelivery, and corrects the row. One that broke off is not kept: the next may be whole. */
  keep(work: Work<JsonObject>): Promise<void>;
  /** Lets the next resend try. Never throws: a hold that cannot be dropped now is dropped once the database is back. */
  giveUp(): Promise<void>;
}

export type Begun =
  | { readonly kind: 'begun'; readonly rerun: Rerun }
  /** Somebody was faster. */
  | { readonly kind: 'kept'; readonly answer_box: Buffer }
  | { readonly kind: 'held' }
  | { readonly kind: 'gone' };

export async function beginRerun(till: Till, { order }: AnyPaid, claim_key: string): Promise<Begun> {
  // A stamp's effect stands or does not; it is never made twice.
  if (order === 'stamp') return { kind: 'gone' };
  const hold = { claim_key, owner: till.owner };
  const taken = await till.database.transaction(tx => takeRerun(tx, hold));
  return taken.kind === 'taken' ? { kind: 'begun', rerun: rerunOf(till, hold, taken.task_id) } : taken;
}

function rerunOf(till: Till, hold: RerunHold, task_id: TaskId): Rerun {
  const drop = () => till.database.transaction(tx => dropRerun(tx, hold));
  const giveUp = () => drop().catch(() => till.owed.add(drop));
  return {
    giveUp,
    async keep({ answer, output_sha256, omission_rule }) {
      if (output_sha256 === null && omission_rule !== 'no_input') return giveUp();
      await till.database.transaction(async tx => {
        const kept = await keepRerun(tx, hold, sealAnswer(till, task_id, answer));
        const body = { reason: 'answered_on_resend', output_sha256 };
        if (kept && output_sha256 !== null) await correct(tx, [{ task_id, body }]);
      });
    },
  };
}

/** What broke off this time had been paid for before: no sentence that says "nothing was charged" is true of it. */
export function rerunFailed(till: Till, task_id: TaskId, error: unknown): Refusal {
  const refusal = error instanceof Refusal ? error : new Refusal('internal', { cause: error });
  const { code: _, status: _status, ...facts } = refusal.extensions;
  return new Refusal(refusal.code, {
    detail:
      'The answer is still owed: the payment was charged before, and its receipt stands. Send the same one again.',
    facts: { ...(facts as JsonObject), charged: true, task_id, verify_url: `${till.base_url}/receipt/${task_id}` },
    cause: error,
  });
}
