import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import { type AgentId, agentId, type TaskId } from '../../../schema/ids.ts';
import { legLimits } from '../../../schema/limits.ts';
import type { ObservedTransfer } from '../../../schema/observed-transfer.ts';
import type { Context } from '../../context.ts';
import { undoubtedLeg } from '../../receipt/claim/held-leg.ts';
import { siblingSlot } from '../../receipt/claim/slots.ts';
import type { StampFact } from '../../stamped-row.ts';
import { type JobLegs, legSlot } from './legs.ts';
import { payableJob } from './mark-paid.ts';
import { requireOutput } from './refuse.ts';

/** Arguments of both payments of a job. The request is the same for either payment. */
export interface PayArgs extends JsonObject {
  /** Agent that posted the job and pays for it. */
  readonly agent_id: AgentId;
  readonly job_id: string;
}

/**
 * Hash of the output that the request names, 64 hex digits in lower case. Null if the request has no such member and so accepts any
 * delivery.
 */
export function outputNamed({ output_sha256 }: PayArgs): string | null {
  return typeof output_sha256 === 'string' ? output_sha256 : null;
}

/** The held first payment. The second payment makes its records from this alone. Amounts are digits of atomic USDC. */
interface HeldLeg extends JsonObject {
  readonly claim_key: string;
  readonly task_id: TaskId;
  readonly transfer: ObservedTransfer;
  readonly payment_id: string;
  /** Amount reserved on the poster's book for both payments. */
  readonly reserved_atomic: string;
}

/** Facts that are encrypted with the second payment before it is sent. */
export interface PayoutFact extends JsonObject {
  readonly leg: HeldLeg;
  readonly winner_agent_id: AgentId;
  /** SHA-256 of the delivered output, 64 hex digits. */
  readonly output_sha256: string;
  /** URL at which the job is paid. */
  readonly resource: string;
}

/**
 * Finds the first payment of that job, which has certainly moved. @throws job_state_conflict, job_output_differs; job_leg_in_flight while
 * it is not certain that the payment has moved
 */
export async function findHeldLeg(args: PayArgs, context: Context): Promise<StampFact<PayoutFact>> {
  const [{ job, legs }, held] = await Promise.all([
    payableJob(context.database, args.job_id),
    undoubtedLeg(context.database, legSlot(args.job_id)),
  ]);
  requireOutput(job, outputNamed(args));
  const { winnerAgentId, outputSha256 } = job;
  if (held === null || winnerAgentId === null || outputSha256 === null)
    throw new Refusal('job_leg_in_flight', { facts: { retry_after_seconds: legLimits.retry_seconds, charged: false } });
  const leg: HeldLeg = {
    claim_key: held.claimKey,
    task_id: held.taskId,
    transfer: held.heldTransfer as ObservedTransfer,
    payment_id: held.paymentId,
    reserved_atomic: held.reservedAtomic.toString(),
  };
  requireWinnersLeg(leg.transfer, legs);
  const resource = context.resource ?? `${context.base_url}/graphql`;
  const fact = { leg, winner_agent_id: agentId(winnerAgentId), output_sha256: outputSha256, resource };
  return { fact, slots: [siblingSlot(held.claimKey)] };
}

/**
 * Checks that the held payment has paid the winner of the job. It can only fail by a defect, because the payee was compared when the
 * payment was claimed.
 */
function requireWinnersLeg({ network, pay_to, amount }: ObservedTransfer, { winner }: JobLegs): void {
  const spelt = (address: string) => (winner.network === 'base' ? address.toLowerCase() : address);
  const is_it =
    network === winner.network && spelt(pay_to) === spelt(winner.pay_to) && amount === winner.amount_atomic.toString();
  if (!is_it) throw new Error(`${pay_to} was paid, and not ${winner.pay_to}`);
}
