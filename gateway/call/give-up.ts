import { atomicAmount } from '../../schema/amount.ts';
import { type ErrorCode, Refusal } from '../../schema/errors.ts';
import { agentId } from '../../schema/ids.ts';
import { voidReservations } from '../../subgraphs/book/ledger/reserve.ts';
import { type Database } from '../../subgraphs/database.ts';
import { DatabaseAway } from '../../subgraphs/outage.ts';
import { type Lease } from '../../subgraphs/receipt/claim/claim.ts';
import { type AbandonOutcome, abandonClaim } from '../../subgraphs/receipt/claim/transitions.ts';
import { HubFailed } from '../../subgraphs/receipt/inference/hub-failed.ts';
import { type LogStanding } from '../log/open-log.ts';
import { type NotTransferred } from '../rails/outcome.ts';
import { type WorkUnderway } from './cancel.ts';
import { type Claimed } from './claim/take.ts';
import { type Failures } from './failures.ts';
import { type Movement } from './held.ts';
import { type Landing } from './record/facts.ts';
import { type Hears } from './respond.ts';

/** Why a claim is given up. `definite`: nothing has moved. `by_caller`: because of the request or its router key. */
export interface WhyGivenUp {
  readonly reason: string;
  readonly definite: boolean;
  readonly by_caller?: boolean;
}

export interface GivingUp {
  /** Releases the claim and returns its reservation to the book, in one transaction. */
  giveUp(lease: Lease, why: WhyGivenUp): Promise<AbandonOutcome>;
  /** Gives up now, or else as soon as the database allows; null if that is still to come. Never throws. */
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
      // The database has gone back: a claim that is `claimed` there may have been sent. It stays for reconcile.
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
 * Ends a broken call: its claim is released if nothing moved, and left to reconcile if something may have. The response follows
 * the claim's state: after money may have moved it is never "pay again". The state of a claim that was lost to another process is
 * unknown.
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
  // Its session was revoked while a hub worked for it, which costs as much as a cancel and is counted like one.
  if (reason === OVER) failures.canceled({ task_id, by: { payer: claim.payer, paid_from_mark } });
  if (reason === REVERTED && hasCostUs(claimed)) failures.reverted(claim.payer);
  const left = await giving_up.letGo(lease, {
    reason,
    by_caller: error instanceof HubFailed && error.by_caller !== null,
    definite: movement === 'nothing_moved',
  });
  // It was canceled and its payment claimed by another call since, so the claim is about that one only.
  const canceled = left?.kind === 'canceled' || (left?.kind === 'lost' && underway.wasCanceled(task_id));
  if (canceled) return hears({ kind: 'canceled', task_id }, error);
  const released = left === null ? movement === 'nothing_moved' : left.kind === 'released';
  if (!released || movement === 'moved')
    return hears({ kind: 'pending', task_id, transaction: transactionIn(error) }, error);
  if (error instanceof Refusal && !(error instanceof DatabaseAway)) return error;
  return hears({ kind: 'broke_off', away: error instanceof DatabaseAway }, error);
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

/** Each is a few hundred bytes; beyond this number, claims are left until this process's lease ends. */
const WAITING_MAX = 100_000;

/**
 * Claims that could not be released because the database was unreachable. While this process lives no other may finish them, so
 * it tries again as soon as it can; if it dies, its lease ends and reconcile takes them.
 */
export class ReleaseLater {
  readonly #waiting = new Set<() => Promise<unknown>>();

  /** `release` may run repeatedly until it succeeds, because it is compare-and-set. */
  add(release: () => Promise<unknown>): void {
    if (this.#waiting.size < WAITING_MAX) this.#waiting.add(release);
  }

  /** Tries each again. @throws the last error; while the database is unreachable the rest is not tried */
  async tryAgain(): Promise<void> {
    let failed: unknown = null;
    for (const release of this.#waiting) {
      try {
        await release();
        this.#waiting.delete(release);
      } catch (fault) {
        failed = fault;
        if (fault instanceof DatabaseAway) break;
      }
    }
    if (failed !== null) throw failed;
  }
}
