import type { JsonObject } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import type { NetworkName } from '../../schema/network.ts';
import { annul } from '../../subgraphs/book/ledger/annul.ts';
import { type Arrival, arrive } from '../../subgraphs/book/ledger/arrive.ts';
import { iso } from '../../subgraphs/clock.ts';
import { newTask } from '../../subgraphs/new-task.ts';
import {
  type AwaitedArrival,
  closeArrival,
  type DoubtedClaim,
  endDoubt,
  takeArrivals,
  takeDoubted,
} from '../../subgraphs/receipt/claim/doubt.ts';
import { claimByKey } from '../../subgraphs/receipt/claim/transitions.ts';
import { setUnsignedFacts } from '../../subgraphs/receipt/receipt/unsigned-facts.ts';
import { requestLabel } from '../call/claim/take.ts';
import { correctLeg } from '../call/held-leg.ts';
import type { NotTransferred, Transferred } from '../rails/outcome.ts';
import { paymentFromJson } from '../rails/payment.ts';
import { type FinishParts, repeatWhileFull, runEach } from './finish-claims.ts';

/* Checks payments again that were recorded before their outcome on the chain was final. */

const ARRIVALS_AT_ONCE = 32;

type ArrivalParts = Pick<FinishParts, 'database' | 'railOf' | 'clock' | 'arrived'>;
type ConfirmedArrival = Extract<Arrival, { to: 'collected' }>;
type OmittedArrival = Extract<Arrival, { to: 'ARRIVAL_UNVERIFIED' }>;

/**
 * Looks for the money of calls that were recorded on a facilitator's report. A row becomes `collected` when the money is seen, and
 * `ARRIVAL_UNVERIFIED` when it can no longer come or the cutoff has passed. The unsigned facts of the receipt change with it.
 */
export function lookForArrivals(parts: ArrivalParts): Promise<void> {
  return repeatWhileFull(ARRIVALS_AT_ONCE, async () => {
    const awaited = await takeArrivals(parts.database, limits.arrival_cutoff_seconds, ARRIVALS_AT_ONCE);
    await runEach(
      awaited,
      ARRIVALS_AT_ONCE,
      one => look(parts, one),
      'the search for payments that a facilitator reported failed',
    );
    return awaited.length;
  });
}

async function look(parts: ArrivalParts, awaited: AwaitedArrival): Promise<void> {
  const outcome = await decide(parts, awaited);
  if (outcome) await close(parts, awaited, outcome);
}

/** Decides the outcome of a reported payment. Null while the money may still be seen. */
async function decide(parts: ArrivalParts, awaited: AwaitedArrival): Promise<ConfirmedArrival | OmittedArrival | null> {
  const { task_id, from_block, settlement_id, claimed_at } = awaited;
  const payment = paymentFromJson(awaited.authorization);
  const { network } = payment.authorization;
  const rail = parts.railOf({ network });
  const decision = await rail.decide(payment, { settlement_id, from_block, claimed_at });
  if (decision.kind === 'transferred') return confirmedArrival(parts, task_id, network, decision);
  if (decision.kind === 'not_transferred' && (await rail.isOver(payment)))
    return omittedArrival(task_id, never[decision.reason]);
  // An unreachable or contradictory node does not prove that no money came.
  if (decision.kind === 'unknown' && decision.reason !== 'not_mined') return null;
  return awaited.past_cutoff ? omittedArrival(task_id, 'no_ingress_receipt_at_cutoff') : null;
}

/** Reasons why the money can never come, if the chain shows that before the cutoff. */
const never: Record<NotTransferred['reason'], string> = {
  expired: 'authorization_expired_unused',
  reverted: 'authorization_expired_unused',
  cancelled: 'authorization_cancelled',
  used_otherwise: 'authorization_used_otherwise',
};

function confirmedArrival(
  parts: ArrivalParts,
  task_id: string,
  network: NetworkName,
  { tx_hash, transfer_index }: Transferred,
): ConfirmedArrival {
  const payment_ref = `${network}:${tx_hash}`;
  const ingress_receipt = { ref: payment_ref, confirmed_at: iso(parts.clock.now_ms()) };
  return { task_id, to: 'collected', ingress_receipt, payment_ref, transfer_index } as const;
}

function omittedArrival(task_id: string, omission_rule: string): OmittedArrival {
  return { task_id, to: 'ARRIVAL_UNVERIFIED', omission_rule };
}

/** Changes the claim, the unsigned facts of the receipt and the row in one transaction, in the general lock order. */
function close(
  parts: ArrivalParts,
  { claim_key, task_id }: AwaitedArrival,
  outcome: ConfirmedArrival | OmittedArrival,
): Promise<void> {
  const came = outcome.to === 'collected';
  return parts.database.transaction(async tx => {
    if (!(await closeArrival(tx, claim_key, came ? 'confirmed' : 'unverified'))) return;
    setUnsignedFacts(tx, task_id, {
      proof_outcome: came ? 'settled' : 'unverified',
      settled_by: came ? 'observed_transfer' : 'receipt',
      ingress_receipt: came ? outcome.ingress_receipt : null,
      omission_rule: came ? null : outcome.omission_rule,
    });
    if (came) {
      const seen = {
        task_id,
        payment_ref: outcome.ingress_receipt.ref,
        transfer_index: outcome.transfer_index ?? null,
      };
      for (const note of parts.arrived) note(tx, seen);
    }
    await arrive(tx, [outcome]);
  });
}

const DOUBTED_AT_ONCE = 32;

type DoubtParts = Pick<FinishParts, 'database' | 'railOf' | 'vault' | 'sold' | 'clock' | 'random'>;

/**
 * Checks payments whose settlement a reorganisation removed from its block. When no block that may still be replaced could include them,
 * the chain shows the outcome of each. If the payment moved after all, everything stays. If it never can, its row is corrected. A held
 * payment has no row yet: it is held with its current transfer, or released.
 */
export function lookAtDoubted(parts: DoubtParts): Promise<void> {
  return repeatWhileFull(DOUBTED_AT_ONCE, async () => {
    const doubted = await takeDoubted(parts.database, DOUBTED_AT_ONCE);
    await runEach(
      doubted,
      DOUBTED_AT_ONCE,
      claim => lookAtClaim(parts, claim),
      'the second check of recorded payments failed',
    );
    return doubted.length;
  });
}

async function lookAtClaim(parts: DoubtParts, claim: DoubtedClaim): Promise<void> {
  const payment = paymentFromJson(claim.authorization);
  const rail = parts.railOf(claim);
  // The end of the payment's validity is checked first, so that no later block can change what is decided afterwards.
  if (!(await rail.isOver(payment))) return;
  const decision = await rail.decide(payment, claim);
  if (decision.kind === 'unknown') return;
  const { claim_key, task_id } = claim;
  if (claim.state === 'held') return endDoubtOfHeld(parts, claim_key, decision);
  await parts.database.transaction(async tx => {
    if (!(await endDoubt(tx, claim_key)) || decision.kind === 'transferred') return;
    const correction_id = newTask(parts);
    const reason = `The final chain does not have this payment: ${lost[decision.reason]}.`;
    await annul(tx, [{ task_id, correction_id, omission_rule: 'settlement_vanished', reason }]);
  });
}

/**
 * Ends the doubt about a held payment. Nothing changes if its sibling is open, or if it was recorded in the meantime; the next look shows
 * which.
 */
async function endDoubtOfHeld(
  { database, vault, sold }: DoubtParts,
  claim_key: string,
  decision: Transferred | NotTransferred,
): Promise<void> {
  const claim = await claimByKey(database, claim_key);
  if (claim?.state !== 'held') return;
  const paid = sold.get(claim.field);
  if (paid?.order !== 'leg') throw new Error(`claim ${claim.taskId} is held for ${claim.field}, which is no leg here`);
  const args = JSON.parse(vault.open(claim.requestBox, requestLabel(claim_key)).toString('utf8')) as JsonObject;
  await database.transaction(async tx => {
    if (await correctLeg(tx, { paid, args, claim }, decision)) await endDoubt(tx, claim_key);
  });
}

const lost: Record<NotTransferred['reason'], string> = {
  expired: 'its block was replaced, and it ran out before another took it',
  reverted: 'its block was replaced, and it failed in the next',
  cancelled: 'its block was replaced, and its payer cancelled it',
  used_otherwise: 'its block was replaced, and its payer used its nonce for another',
};
