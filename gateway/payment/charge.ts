import type { JsonObject } from '../../schema/canonical-json.ts';
import { canonicalHash } from '../../schema/digest.ts';
import { taskId } from '../../schema/ids.ts';
import type { Context } from '../../subgraphs/context.ts';
import type { Charge, Charged } from '../../subgraphs/paid.ts';
import { admission } from './admission.ts';
import { authorized } from './authorized.ts';
import { type Claimed, claimOf, refusedClaim } from './claimed.ts';
import { transferElsewhere } from './preflight.ts';
import type { AnyPaid } from './record.ts';
import { redeliver } from './redeliver.ts';
import { abandon, adoptTransfer, moved, recordClaim, type Standing, settleClaim } from './steps.ts';
import type { Till } from './till.ts';

/**
 * The story of one paid call. Every road that a payment can take begins on this page.
 * verify → admit → claim and reserve → work → settle → record: in this order a payment is charged at most once, an
 * answer that was charged is never lost, and nothing is charged for what did not come.
 */
export function openCharge(till: Till): Charge {
  const charge = async (paid: AnyPaid, args: JsonObject, context: Context): Promise<Charged<JsonObject>> => {
    const payment = authorized(till, paid, context);
    const request_hash = canonicalHash({ field: paid.field, args });
    const presented = { paid, args, payment, request_hash };

    const admitted = await admission(till, presented, context);
    if (admitted.kind === 'replayed') return redeliver(till, payment, admitted, context);

    const task_id = taskId(till.clock.now_ms(), till.random.bytes(10));
    const claim = await claimOf(till, { ...presented, task_id }, context);
    const outcome = await till.queues.claim.submit(claim);
    if (outcome.kind === 'replayed') return redeliver(till, payment, outcome, context);
    if (outcome.kind !== 'claimed') throw refusedClaim(outcome, paid);

    const claimed = { ...presented, claim, lease: outcome.lease, task_id };
    return carryThrough(till, claimed, admitted.spent, context);
  };
  // The till sells whatever is declared; each caller gets back the type of what it declared.
  return charge as unknown as Charge;
}

async function carryThrough(
  till: Till,
  claimed: Claimed,
  spent: boolean,
  context: Context,
): Promise<Charged<JsonObject>> {
  const { paid, args, task_id } = claimed;
  let standing: Standing = 'nothing_moved';
  try {
    await till.faults.reach('after_claim');
    const elsewhere = spent ? await transferElsewhere(till, claimed) : null;
    if (elsewhere) {
      standing = 'moved';
      await adoptTransfer(till, claimed, elsewhere);
    }
    const work = paid.order === 'work_then_settle' ? await paid.work(args, task_id, context) : null;
    await till.faults.reach('after_work');

    if (!elsewhere) standing = 'may_have_moved';
    const settlement = elsewhere ? moved(elsewhere) : await settleClaim(till, claimed, work);
    standing = settlement.standing;
    if (settlement.kind === 'refused') throw settlement.refusal;

    const answer = await recordClaim(till, claimed, work, settlement.transfer, context);
    return { answer, task_id, settlement_status: 'settled' };
  } catch (error) {
    throw await abandon(till, claimed, standing, error);
  }
}
