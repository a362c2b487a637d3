import { atomicAmount } from '../../schema/amount.ts';
import { type ErrorCode, Refusal } from '../../schema/errors.ts';
import { agentId } from '../../schema/ids.ts';
import { voidReservations } from '../../subgraphs/book/ledger/reserve.ts';
import type { Database } from '../../subgraphs/database.ts';
import { DatabaseAway } from '../../subgraphs/outage.ts';
import { type Lease } from '../../subgraphs/receipt/claim/claim.ts';
import { type AbandonOutcome, abandonClaim } from '../../subgraphs/receipt/claim/transitions.ts';
import { HubFailed } from '../../subgraphs/receipt/inference/hub-failed.ts';
import type { LogStanding } from '../log/open-log.ts';
import type { NotTransferred } from '../rails/outcome.ts';
import type { Landing } from '../record/facts.ts';
import type { Hears } from './answer-by-outcome.ts';
import type { WorkUnderway } from './cancel.ts';
import type { Claimed } from './claim-request.ts';
import type { Failures } from './failures.ts';
import type { Movement } from './held.ts';
import type { ReleaseLater } from './release-later.ts';

/** Why a claim is given up. `definite`: nothing has moved. `by_caller`: by the request itself, or by its router key. */
export interface WhyGivenUp {
  readonly reason: string;
  readonly definite: boolean;
  readonly by_caller?: boolean;
}

export interface GivingUp {
  /** Releases or lets go, and gives the book back what was held on it, in one transaction. */
  giveUp(lease: Lease, why: WhyGivenUp): Promise<AbandonOutcome>;
  /** Gives up now, or else as soon as the database allows; null where that is still to come. Never throws. */
  letGo(lease: Lease, why: WhyGivenUp): Promise<AbandonOutcome | null>;
}

export interface GivingUpParts {
  readonly database: Database;
  readonly log: Pick<LogStanding, 'halt'>;
  readonly later: ReleaseLater;
}

export function openGivingUp({ database, log, later }: GivingUpParts): GivingUp {
  const giveUp: GivingUp['giveUp'] = (lease, { reason, definite, by_caller }) =>
    database.transaction(async tx => {
      const left = await abandonClaim(tx, lease, reason, definite, by_caller);
      if (left.kind === 'released' && left.agent_id !== null && left.reserved_atomic > 0n) {
        await voidReservations(tx, [{ agent_id: agentId(left.agent_id), amount: atomicAmount(left.reserved_atomic) }]);
      }
      return left;
    });
  return {
    giveUp,
    async letGo(lease, why) {
      // It has gone back: a claim that is `claimed` there may have been sent. It stays as it is, for reconcile, later.
      if (log.halt) return null;
      try {
        return await giveUp(lease, why);
      } catch {
        later.add(() => giveUp(lease, why));
        return null;
      }
    },
  };
}

export interface AbandonParts {
  readonly giving_up: Pick<GivingUp, 'letGo'>;
  readonly failures: Failures;
  readonly underway: Pick<WorkUnderway, 'wasCanceled'>;
  readonly hears: Hears;
}

/**
 * A call that broke off: its claim is released where nothing moved and let go of where something may have. What the
 * caller hears follows what the claim says, not what we hoped: after money may have moved, never "pay again". A claim
 * that is lost was taken over while this process slept; what the other one did with it we cannot know.
 */
export async function abandonClaimed(
  { giving_up, failures, underway, hears }: AbandonParts,
  claimed: Claimed,
  movement: Movement,
  error: unknown,
): Promise<Refusal> {
  const { lease, task_id, claim } = claimed;
  const reason = reasonOf(error);
  const { paid_from_mark } = claim.landing as Landing;
  if (error instanceof HubFailed) failures.failedAtHub(error, claim.payer, paid_from_mark);
  // Its session was revoked while a hub worked for it: that costs as much as a cancel, and comes as cheap.
  if (reason === OVER) failures.canceled({ task_id, by: { payer: claim.payer, paid_from_mark } });
  if (reason === REVERTED && hasCostUs(claimed)) failures.reverted(claim.payer);
  const left = await giving_up.letGo(lease, {
    reason,
    by_caller: error instanceof HubFailed && error.by_caller !== null,
    definite: movement === 'nothing_moved',
  });
  // Canceled, and its payment claimed by another call since: the claim tells of that one alone.
  const canceled = left?.kind === 'canceled' || (left?.kind === 'lost' && underway.wasCanceled(task_id));
  if (canceled) return hears({ kind: 'canceled', task_id }, error);
  const released = left === null ? movement === 'nothing_moved' : left.kind === 'released';
  if (!released || movement === 'moved')
    return hears({ kind: 'pending', task_id, transaction: transactionIn(error) }, error);
  if (error instanceof Refusal && !(error instanceof DatabaseAway)) return error;
  return hears({ kind: 'broke_off', away: error instanceof DatabaseAway }, error);
}

const OVER: ErrorCode = 'session_not_active';

/** The chain took it and did not move it, though it had passed every check. */
const REVERTED: NotTransferred['reason'] = 'reverted';

/**
 * A key's payment that we sent. Code that is asked for a payer rests by what stands on its claims, a transaction of Solana
 * likewise; and a facilitator, which alone tells whether it is there, pays with gas of its own.
 */
function hasCostUs({ payment, rail }: Claimed): boolean {
  return payment.signature.kind === 'ecdsa' && !rail.settler.reachable;
}

/** Of a payment that was not taken the word that its caller hears: another of that payer's may depend on it. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Refusal)) return 'internal';
  return error.code === 'payment_rejected' ? error.message : error.code;
}

/** What a facilitator has named is told once, as nothing is known of it here. */
function transactionIn(error: unknown): string | null {
  const { transaction } = error instanceof Refusal ? error.extensions : {};
  return typeof transaction === 'string' ? transaction : null;
}
