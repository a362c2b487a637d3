import type { JsonObject } from '../../schema/canonical-json.ts';
import type { ChargedAnswer } from '../../subgraphs/charge-port.ts';
import type { Context } from '../../subgraphs/context.ts';
import type { AnyWhole } from '../../subgraphs/sale.ts';
import type { Faults } from '../operations/faults.ts';
import type { WorkUnderway } from './cancel.ts';
import type { Held } from './held.ts';

/**
 * A whole answer: work → settle → record. The payment settles only with an answer in hand, so nothing is charged without one; the
 * answer is sent only once recorded, so no charged answer is lost. A stamp has no work: what it must look up it finds first, and
 * its effect is written in the transaction that records it.
 */
export async function deliverWhole(
  { faults, underway }: { readonly faults: Faults | null; readonly underway: WorkUnderway },
  paid: AnyWhole,
  held: Held,
  context: Context,
): Promise<ChargedAnswer<JsonObject>> {
  try {
    const { task_id, args, bounds, steps } = held;
    steps.begin('work');
    const done =
      paid.order === 'stamp'
        ? ((await paid.find?.(args, held.payer, context, bounds)) ?? null)
        : await underway.during(task_id, canceled => paid.work(args, task_id, context, { ...bounds, canceled }));
    await faults?.reach('after_work');
    const settled = await held.settle(done);
    steps.begin('record');
    const charged = await held.record(done);
    settled.announce();
    return charged;
  } catch (error) {
    throw await held.abandon(error);
  }
}
