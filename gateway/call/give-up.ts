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

/** Why a claim is given up. `definite`: nothing has moved. `by_caller`: because of the request or its router key. */
export interface WhyGivenUp {
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

/** Gives up now, or else as soon as the database allows; null if that is still to come. Never throws. */
export async function letClaimGo(parts: LetGoParts, lease: Lease, why: WhyGivenUp): Promise<AbandonOutcome | null> {
  // The database has gone back: a claim that is `claimed` there may have been sent. It stays for reconcile.
  if (parts.log.halt) return null;
  try {
    return await giveUpClaim(parts, lease, why);
  } catch {
    parts.later.add(() => giveUpClaim(parts, lease, why));
    return null;
  }
}

/**
 * Ends a broken call: its claim is released if nothing moved, and left to reconcile if something may have. The response follows
 * the claim's state: after money may have moved it is never "pay again". The state of a claim that was lost to another process is
 * unknown.
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
  // Its session was revoked while a hub worked for it, which costs as much as a cancel and is counted like one.
  if (reason === OVER) failures.canceled({ task_id, by: { payer: claim.payer, paid_from_mark } });
  if (reason === REVERTED && hasCostUs(claimed)) failures.reverted(claim.payer);
  const left = await letClaimGo(parts, lease, {
    reason,
    by_caller: error instanceof HubFailed && error.by_caller !== null,
    definite: movement === 'nothing_moved',
  });
  // It was canceled and its payment claimed by another call since, so the claim is about that one only.
  const canceled = left?.kind === 'canceled' || (left?.kind === 'lost' && underway.wasCanceled(task_id));
  if (canceled) return respond({ kind: 'canceled', task_id }, error);
  const released = left === null ? movement === 'nothing_moved' : left.kind === 'released';
  if (!released || movement === 'moved')
    return respond({ kind: 'pending', task_id, transaction: transactionIn(error) }, error);
  if (error instanceof Refusal && !(error instanceof DatabaseAway)) return error;
  return respond({ kind: 'broke_off', away: error instanceof DatabaseAway }, error);
}

const OVER: ErrorCode = 'session_not_active';

/** The chain included it and did not move it, although it had passed every check. */
const REVERTED: NotTransferred['reason'] = 'reverted';

/**
 * A key's payment that we sent. Wallets with code wait by their claims, and so do transactions on Solana; a facilitator pays with
 * its own gas.
 */
function hasCostUs({ payment, rail }: Claimed): boolean {
  return payment.signature.kind === 'ecdsa' && !rail.settler.reachable;
}

/** Outcome of a payment that was not accepted, on which another of that payer's may depend. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Refusal)) return 'internal';
  return error.code === 'payment_rejected' ? error.message : error.code;
}

/** A transaction named by a facilitator is reported once, because nothing is known of it here. */
function transactionIn(error: unknown): string | null {
  const { transaction } = error instanceof Refusal ? error.extensions : {};
  return typeof transaction === 'string' ? transaction : null;
}
