import type { Refusal } from '../../schema/errors.ts';
import { isApproved } from '../../subgraphs/book/approval/is-approved.ts';
import type { Context } from '../../subgraphs/context.ts';
import type { Database } from '../../subgraphs/database.ts';
import { DatabaseAway } from '../../subgraphs/outage.ts';
import { nameOfSlot } from '../../subgraphs/receipt/claim/identifier.ts';
import { isProofSlot } from '../../subgraphs/receipt/claim/slots.ts';
import { claimByKey, leaseOfTask } from '../../subgraphs/receipt/claim/transitions.ts';
import type { AnyPaid } from '../../subgraphs/sale.ts';
import type { LogStanding } from '../log/open-log.ts';
import type { Hears } from './answer-by-outcome.ts';
import type { CallOutcome } from './call-outcome.ts';
import type { ToClaim } from './claim-request.ts';
import type { GivingUp } from './give-up.ts';
import type { Claiming } from './record/place-claims.ts';
import type { Queues, TakenClaim } from './record/queues.ts';
import type { ReleaseLater } from './release-later.ts';

export interface TakeParts {
  readonly database: Database;
  readonly queue: Queues['claim'];
  readonly log: LogStanding;
  readonly requestOf: (to_claim: ToClaim, context: Context) => Promise<Claiming>;
  readonly giving_up: Pick<GivingUp, 'giveUp'>;
  readonly later: ReleaseLater;
  readonly hears: Hears;
}

/** Result of a claim: taken, someone else's, or refused by its book. */
export type ClaimAnswer = Exclude<TakenClaim['outcome'], { kind: 'beyond_means' }>;
export type AnsweredClaim = { readonly claim: TakenClaim['claim']; readonly outcome: ClaimAnswer };
export type TakeClaim = (to_claim: ToClaim, spent: boolean, context: Context) => Promise<AnsweredClaim>;

/**
 * Claims the payment and reserves on the book, in one commit that other calls share. `spent`: the chain shows the payment used.
 * @throws if the database is unreachable; then no work is done and nothing is sent
 */
export function openTakeClaim(parts: TakeParts): TakeClaim {
  return async (to_claim, spent, context) => {
    try {
      if (!parts.log.sound) await requireClaimed(parts, to_claim, spent);
      const claiming = await parts.requestOf(to_claim, context);
      return await claimWithinFunds(parts, to_claim, claiming);
    } catch (error) {
      throw error instanceof DatabaseAway ? await unclaimed(parts, to_claim, spent, error) : error;
    }
  };
}

/**
 * While the log is unsound nothing new is accepted; former purchases are delivered. While it is halted the database has gone
 * back, so a missing claim means nothing.
 */
async function requireClaimed(
  { database, log, hears }: TakeParts,
  { claim_key }: ToClaim,
  spent: boolean,
): Promise<void> {
  const standing = await claimByKey(database, claim_key);
  if (standing?.state === 'settling' || standing?.state === 'recorded') return;
  if (log.halt && spent) throw hears({ kind: 'unknown_here' });
  throw hears({ kind: 'not_taken', unsure: log.halt !== null });
}

/** A call that is claimed, worked for and mined between the two requests of one look is seen by the next. */
const LOOKS_MAX = 2;

/**
 * Claims. A payer whose open calls seem to exceed the balance is checked again before the refusal, because a call that is being
 * settled may have left the balance and still count as open. @throws payment_rejected (`insufficient_funds`), chain_unavailable
 */
async function claimWithinFunds(parts: TakeParts, { paid, rail }: ToClaim, claiming: Claiming): Promise<AnsweredClaim> {
  const { request } = claiming;
  let { claim, outcome } = await submit(parts, claiming);
  for (let looks = 0; outcome.kind === 'beyond_means' && looks < LOOKS_MAX; looks++) {
    const funds = await rail.funds(request.payer);
    if (funds.kind !== 'ok') throw parts.hears({ kind: 'chain_unreachable' }, funds.cause);
    ({ claim, outcome } = await submit(parts, { ...claiming, request: { ...request, means: funds.value } }));
  }
  // A person may have approved what its book refused before, so it is judged once more.
  if (outcome.kind === 'blocked' && (await isApproved(parts.database, claim, outcome.refusal_id)))
    ({ claim, outcome } = await submit(parts, { ...claiming, request: { ...request, approved: true } }));
  if (outcome.kind === 'beyond_means') throw parts.hears({ kind: 'rejected', paid, reason: 'insufficient_funds' });
  return { claim, outcome };
}

async function submit({ database, queue, giving_up, later }: TakeParts, claiming: Claiming): Promise<TakenClaim> {
  try {
    return await queue.submit(claiming);
  } catch (error) {
    // The claim may exist all the same: this process would not know it, and it would seem in flight for minutes.
    if (error instanceof DatabaseAway && error.in_doubt)
      later.add(async () => {
        const lease = await leaseOfTask(database, claiming.request);
        if (lease) await giving_up.giveUp(lease, { reason: 'unavailable', definite: false });
      });
    throw error;
  }
}

/** "Not charged" is said only of a payment that is known not to have been sent by any earlier call. */
async function unclaimed(
  { database, hears }: TakeParts,
  { claim_key }: ToClaim,
  spent: boolean,
  cause: DatabaseAway,
): Promise<Refusal> {
  const standing = await claimByKey(database, claim_key).catch(() => undefined);
  const sent = standing?.state === 'settling' || standing?.state === 'recorded';
  if (spent || sent) return hears({ kind: 'unknown_here' }, cause);
  return hears({ kind: 'not_taken', unsure: standing === undefined }, cause);
}

/** A payment that already has a claim: each state has its own code, and none charges again. */
export function whoseElse(
  outcome: Exclude<ClaimAnswer, { kind: 'claimed' | 'replayed' | 'blocked' | 'blocked_too_often' }>,
  paid: AnyPaid,
): CallOutcome {
  if (outcome.kind !== 'slot_taken') return outcome;
  if (isProofSlot(outcome.slot)) return { kind: 'wrong_session' };
  const by = nameOfSlot(outcome.slot);
  return by === null ? { kind: 'slot_taken', paid } : { kind: 'name_in_flight', by };
}
