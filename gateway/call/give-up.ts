import { atomicAmount } from '../../schema/amount.ts';
import { type ErrorCode, Refusal } from '../../schema/errors.ts';
import { agentId } from '../../schema/ids.ts';
import { voidReservations } from '../../subgraphs/book/ledger/reserve.ts';
import { DatabaseAway } from '../../subgraphs/outage.ts';
import { type Lease } from '../../subgraphs/receipt/claim/claim.ts';
import { type AbandonOutcome, abandonClaim } from '../../subgraphs/receipt/claim/transitions.ts';
import { HubFailed } from '../../subgraphs/receipt/inference/hub-failed.ts';
import { type NotTransferred } from '../rails/outcome.ts';
import { type HaltedLog } from './ground.ts';
import { type CallParts } from './parts.ts';
import { type Landing } from './record/facts.ts';
import { type Claimed, type Movement } from './states.ts';

/** Why a claim is given up. `definite`: nothing has moved. `by_caller`: the request or its router key is the reason. */
interface WhyGivenUp {
  readonly reason: string;
  readonly definite: boolean;
  readonly by_caller?: boolean;
}

/** Releases the claim and returns its reservation to the book, in one transaction. */
export function giveUpClaim(
  { database }: Pick<CallParts, 'database'>,
  lease: Lease,
  { reason, definite, by_caller }: WhyGivenUp,
): Promise<AbandonOutcome> {
  return database.transaction(async tx => {
    const left = await abandonClaim(tx, lease, reason, definite, by_caller);
    if (left.kind === 'released' && left.agent_id !== null && left.reserved_atomic > 0n) {
      await voidReservations(tx, [{ agent_id: agentId(left.agent_id), amount: atomicAmount(left.reserved_atomic) }]);
    }
    return left;
  });
}

type LetGoParts = HaltedLog & Pick<CallParts, 'database' | 'later'>;

/** Gives up the claim now, or else as soon as the database allows. Null if it was not given up now. Never throws. */
export async function letClaimGo(parts: LetGoParts, lease: Lease, why: WhyGivenUp): Promise<AbandonOutcome | null> {
  // The database was restored to an older state: a claim that is `claimed` there may have been sent. Reconcile finishes it.
  if (parts.log.halt) return null;
  try {
    return await giveUpClaim(parts, lease, why);
  } catch {
    parts.later.add(() => giveUpClaim(parts, lease, why));
    return null;
  }
}

/**
 * Ends a broken call. Its claim is released if nothing moved, and left to reconcile if something may have moved. The response follows the
 * claim's state: after money may have moved, it never asks to pay again. The state of a claim that was lost to another process is unknown.
 */
export async function abandonClaimed(
  parts: LetGoParts & Pick<CallParts, 'failures' | 'underway' | 'respond'>,
  claimed: Claimed,
  movement: Movement,
  error: unknown,
): Promise<Refusal> {
  const { failures, underway, respond } = parts;
  const { lease, task_id, claim } = claimed;
  const reason = reasonOf(error);
  const { paid_from_mark } = claim.landing as Landing;
  if (error instanceof HubFailed) failures.failedAtHub(error, claim.payer, paid_from_mark);
  // The session was revoked while a hub worked for the call. That costs as much as a cancel and is counted like one.
  if (reason === OVER) failures.canceled({ task_id, by: { payer: claim.payer, paid_from_mark } });
  if (reason === REVERTED && hasCostUs(claimed)) failures.reverted(claim.payer);
  const left = await letClaimGo(parts, lease, {
    reason,
    by_caller: error instanceof HubFailed && error.by_caller !== null,
    definite: movement === 'nothing_moved',
  });
  // A lost claim whose task was canceled belongs to another call by now, which has claimed the payment since: this call was canceled.
  const canceled = left?.kind === 'canceled' || (left?.kind === 'lost' && underway.wasCanceled(task_id));
  if (canceled) return respond({ kind: 'canceled', task_id }, error);
  const released = left === null ? movement === 'nothing_moved' : left.kind === 'released';
  if (!released || movement === 'moved')
    return respond({ kind: 'pending', task_id, transaction: transactionIn(error) }, error);
  if (error instanceof Refusal && !(error instanceof DatabaseAway)) return error;
  return respond({ kind: 'broke_off', away: error instanceof DatabaseAway }, error);
}

const OVER: ErrorCode = 'session_not_active';

/** The chain included the transaction and did not move the money, although the payment had passed every check. */
const REVERTED: NotTransferred['reason'] = 'reverted';

/**
 * Whether the failed payment cost gas of this service: it was signed by a key and sent by us. Wallets with code wait by their claims, and
 * so do transactions on Solana. A facilitator pays with its own gas.
 */
function hasCostUs({ payment, rail }: Claimed): boolean {
  return payment.signature.kind === 'ecdsa' && !rail.settler.reachable;
}

/** The reason that is stored on the claim. Another payment of that payer may depend on the reason why one was not accepted. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Refusal)) return 'internal';
  return error.code === 'payment_rejected' ? error.message : error.code;
}

/** The transaction that a facilitator named. It is reported once, because this service has no record of it. */
function transactionIn(error: unknown): string | null {
  const { transaction } = error instanceof Refusal ? error.extensions : {};
  return typeof transaction === 'string' ? transaction : null;
}
