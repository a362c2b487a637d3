import { Refusal } from '../../schema/errors.ts';
import type { Context } from '../../subgraphs/context.ts';
import { DatabaseAway } from '../../subgraphs/outage.ts';
import { type ClaimRequest } from '../../subgraphs/receipt/claim/claim.ts';
import { leaseOfTask } from '../../subgraphs/receipt/claim/lease-of-task.ts';
import { claimByKey } from '../../subgraphs/receipt/claim/transitions.ts';
import { claimKey } from '../rails/payment.ts';
import type { Claiming, Taken } from '../record/queues.ts';
import { claimingOf, type Presented } from './claim-request.ts';
import { claimWithinMeans, type WithinMeans } from './funds.ts';
import { giveUp } from './settle-claim.ts';
import type { Till } from './till.ts';

/**
 * Claims the payment and reserves on the book, in one commit that other calls share. `spent`: the chain has it that the
 * payment is used. @throws where the database is away: nothing is worked for or sent then.
 */
export async function takeClaim(
  till: Till,
  presented: Presented & Pick<ClaimRequest, 'task_id' | 'means'>,
  spent: boolean,
  context: Context,
): Promise<Taken<WithinMeans>> {
  try {
    if (!till.log.sound) await requireClaimed(till, presented, spent);
    const claiming = await claimingOf(till, presented, context);
    return await claimWithinMeans(till, presented.paid, claiming, asked => submit(till, asked));
  } catch (error) {
    throw error instanceof DatabaseAway ? await unclaimed(till, presented, spent, error) : error;
  }
}

/**
 * With a log that cannot be relied on nothing new is taken; what was bought before is delivered all the same. A halted
 * one says that the database has gone back: that it knows nothing of a payment which the chain has seen means nothing.
 */
async function requireClaimed(till: Till, { payment }: Presented, spent: boolean): Promise<void> {
  const standing = await claimByKey(till.database, claimKey(payment.authorization));
  if (standing?.state === 'settling' || standing?.state === 'recorded') return;
  if (till.log.halt && spent) throw new Refusal('settlement_pending', { facts: { retry_after_seconds: 2 } });
  throw new Refusal('unavailable', { facts: till.log.halt ? {} : { charged: false } });
}

async function submit(till: Till, claiming: Claiming): Promise<Taken> {
  try {
    return await till.queues.claim.submit(claiming);
  } catch (error) {
    // It may stand all the same: held by this process, which does not know it, it would be in flight for minutes.
    if (error instanceof DatabaseAway && error.in_doubt) till.owed.add(() => letGo(till, claiming.request));
    throw error;
  }
}

async function letGo(till: Till, claim: Claiming['request']): Promise<void> {
  const lease = await leaseOfTask(till.database, claim);
  if (lease) await giveUp(till, lease, { reason: 'unavailable', definite: false });
}

/** "Not charged" is said only of a payment that is known not to have been sent before, by whichever call. */
async function unclaimed(till: Till, { payment }: Presented, spent: boolean, cause: DatabaseAway): Promise<Refusal> {
  const standing = await claimByKey(till.database, claimKey(payment.authorization)).catch(() => undefined);
  const sent = standing?.state === 'settling' || standing?.state === 'recorded';
  if (spent || sent) return new Refusal('settlement_pending', { cause, facts: { retry_after_seconds: 2 } });
  return new Refusal('unavailable', { cause, facts: standing === undefined ? {} : { charged: false } });
}
