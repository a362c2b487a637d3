import { Refusal } from '../../../schema/errors.ts';
import type { ArrivalStatus } from '../../../schema/evidence.ts';
import { verifyUrl } from '../../../schema/links.ts';
import type { NetworkName } from '../../../schema/network.ts';
import type { Database } from '../../database.ts';
import { receiptsByTask } from '../receipt/find.ts';
import type { ClaimState } from './claim.machine.ts';
import type { SettlementReport } from './settlement-status.type.ts';

/** Id of a payment as its client sends it, and the payer's address, which is needed if several payers use the same id. */
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
  /** Whether payments of several payers have this id. */
  readonly ambiguous: boolean;
}

/**
 * State of a payment; null if the id is unknown. A payer may have used an identifier for a payment that was released and then for another
 * payment; the one that is not released takes precedence. The id of a payment on the chain takes precedence over all identifiers, because
 * anyone may choose the id of another payment as an identifier.
 * @throws invalid_request (`payer`) if payments of several payers have the id and the request names no payer.
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
  /** Seconds after which the state may have changed. Null if no change is expected. */
  readonly retry: number | null;
}

/** State of a recorded payment by `arrival`: the outcome of a transfer that had not been seen when the payment was recorded. */
const arrivals: Record<ArrivalStatus, StateReport> = {
  confirmed: { state: 'settled', retry: null },
  pending: { state: 'pending', retry: 5 },
  unverified: { state: 'failed', retry: null },
};

/**
 * Reasons for which a released payment will never settle: its nonce is used. Any other released payment may be sent again until its release
 * is final.
 */
const NEVER: ReadonlySet<string> = new Set(['cancelled', 'used_otherwise']);

function stateReport({ state, reason, final, arrival }: FoundClaim): StateReport {
  switch (state) {
    case 'claimed':
      return { state, retry: 1 };
    case 'settling':
      return { state: 'pending', retry: 2 };
    // The payment has moved. It is recorded together with the second payment.
    case 'held':
      return { state: 'pending', retry: null };
    case 'recorded':
      return arrivals[arrival ?? 'confirmed'];
    case 'released':
      return { state: final || NEVER.has(reason ?? '') ? 'failed' : state, retry: null };
  }
}

/** Whether a recorded payment was charged, by `arrival`: the outcome of a transfer that had not been seen when the payment was recorded. */
const byArrival: Readonly<Record<ArrivalStatus, true | null>> = {
  confirmed: true,
  pending: null,
  // The transfer can no longer arrive, or was not found while it was searched for. Neither proves that the money never moved.
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
