import { Refusal } from '../../../schema/errors.ts';
import type { ArrivalStatus } from '../../../schema/evidence.ts';
import { verifyUrl } from '../../../schema/links.ts';
import type { NetworkName } from '../../../schema/network.ts';
import type { Database } from '../../database.ts';
import { receiptsByTask } from '../receipt/find.ts';
import type { ClaimState } from './claim.machine.ts';
import type { SettlementReport } from './settlement-status.type.ts';

/** A payment as its client names it, with the address if several payers use the same name. */
interface PaymentQuery {
  readonly payment_id: string;
  readonly payer: string | null;
}

interface FoundClaim {
  readonly state: ClaimState;
  readonly task_id: string;
  readonly network: NetworkName;
  readonly reason: string | null;
  readonly final: boolean;
  readonly arrival: ArrivalStatus | null;
  /** Payments of other payers have the same name. */
  readonly ambiguous: boolean;
}

/**
 * State of a payment; null if the name is unknown. A payer may have used an identifier for a payment that was released
 * and then for another: the one that can still buy something takes precedence. The chain's name of a payment precedes
 * all identifiers, since anybody may name a purchase like another's payment.
 * @throws invalid_request (`payer`) if payments of several payers have the name and the request names none of them.
 */
export async function findPayment(
  database: Database,
  base_url: string,
  { payment_id, payer }: PaymentQuery,
): Promise<SettlementReport | null> {
  const [found] = await database.query<FoundClaim>({
    name: 'payment by public id',
    text: `select state, task_id, network, reason, final, arrival,
        min(payer) over alike <> max(payer) over alike as ambiguous
      from payment_claim where (payment_id = $1 or identifier = $1) and ($2::text is null or lower(payer) = lower($2))
      window alike as (partition by payment_id = $1)
      order by payment_id = $1 desc, state <> 'released' desc, moved_at desc limit 1`,
    values: [payment_id, payer],
  });
  if (!found) return null;
  if (found.ambiguous) throw new Refusal('invalid_request', { detail: SEVERAL, param: 'payer' });
  const { state, retry } = stateReport(found);
  const gone = state === 'released' || state === 'failed';
  return {
    paymentId: payment_id,
    state,
    taskId: found.task_id,
    network: found.network,
    paymentRef: found.state === 'recorded' ? await refOf(database, found.task_id) : null,
    verifyUrl: gone && found.state !== 'recorded' ? null : verifyUrl(base_url, found.task_id),
    charged: isCharged(found),
    retryAfterSeconds: retry,
  };
}

const SEVERAL = 'payer: payments of several payers are called so; name the one that is meant';

async function refOf(database: Database, task_id: string): Promise<string | null> {
  const [receipt] = await receiptsByTask(database, [task_id]);
  const seen = receipt?.ingressReceipt?.ref;
  return typeof seen === 'string' ? seen : (receipt?.paymentRef ?? null);
}

interface StateReport {
  readonly state: SettlementReport['state'];
  /** Seconds after which its state may have changed. */
  readonly retry: number | null;
}

/** State of a recorded payment, by the outcome of a transfer that had not been seen when it was recorded. */
const arrivals: Record<ArrivalStatus, StateReport> = {
  confirmed: { state: 'settled', retry: null },
  pending: { state: 'pending', retry: 5 },
  unverified: { state: 'failed', retry: null },
};

/** Its nonce is used or its time is over: it will never be settled. Any other released payment may be sent again. */
const NEVER: ReadonlySet<string> = new Set(['cancelled', 'used_otherwise']);

function stateReport({ state, reason, final, arrival }: FoundClaim): StateReport {
  switch (state) {
    case 'claimed':
      return { state, retry: 1 };
    case 'settling':
      return { state: 'pending', retry: 2 };
    // It has moved, and is recorded once its sibling has.
    case 'held':
      return { state: 'pending', retry: null };
    case 'recorded':
      return arrivals[arrival ?? 'confirmed'];
    case 'released':
      return { state: final || NEVER.has(reason ?? '') ? 'failed' : state, retry: null };
  }
}

/** Whether a recorded payment was charged, by the outcome of a transfer that had not been seen when it was recorded. */
const byArrival: Readonly<Record<ArrivalStatus, true | null>> = {
  confirmed: true,
  pending: null,
  // It can no longer arrive, or did not while it was searched for; it is not proven that it never moved.
  unverified: null,
};

/** Whether a payment was charged, as far as that was observed; null if it is unknown. */
export function isCharged({
  state,
  arrival,
}: {
  readonly state: ClaimState;
  readonly arrival: ArrivalStatus | null;
}): boolean | null {
  switch (state) {
    case 'claimed':
    case 'settling':
      return null;
    case 'held':
      return true;
    case 'recorded':
      return byArrival[arrival ?? 'confirmed'];
    case 'released':
      return false;
  }
}
