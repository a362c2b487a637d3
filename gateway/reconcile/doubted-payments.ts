import type { JsonObject } from '../../schema/canonical-json.ts';
import { annul } from '../../subgraphs/book/ledger/annul.ts';
import { newTask } from '../../subgraphs/new-task.ts';
import { type DoubtedClaim, endDoubt, takeDoubted } from '../../subgraphs/receipt/claim/doubt.ts';
import { claimByKey } from '../../subgraphs/receipt/claim/transitions.ts';
import { requestLabel } from '../charge/claim-request.ts';
import type { NotTransferred, Transferred } from '../rails/outcome.ts';
import { paymentFromJson } from '../rails/payment.ts';
import { correctLeg } from '../record/correct-leg.ts';
import { type FinishParts, whileFull } from './finish-claims.ts';

const DOUBTED_AT_ONCE = 32;

type DoubtParts = Pick<FinishParts, 'database' | 'railOf' | 'vault' | 'sold' | 'clock' | 'random'>;

/**
 * Payments whose settlement a reorganisation took out of its block. Once no block that may yet be replaced could take them,
 * the chain says what became of each: it moved after all, in whichever block and by whomever, and all stands as it was; or it
 * never will, and its row is corrected. What is held has no row yet: it is held where it is now, or let go of.
 */
export function lookAtDoubted(parts: DoubtParts): Promise<void> {
  return whileFull(DOUBTED_AT_ONCE, async () => {
    const doubted = await takeDoubted(parts.database, DOUBTED_AT_ONCE);
    const looks = await Promise.allSettled(doubted.map(claim => lookAtClaim(parts, claim)));
    const faults = looks.flatMap(done => (done.status === 'rejected' ? [done.reason] : []));
    if (faults.length > 0) throw new AggregateError(faults, `${faults.length} payments could not be looked at again`);
    return doubted.length;
  });
}

async function lookAtClaim(parts: DoubtParts, claim: DoubtedClaim): Promise<void> {
  const payment = paymentFromJson(claim.authorization);
  const rail = parts.railOf(claim);
  // First: what is decided after that, no block to come decides otherwise.
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

/** Left as it is where its sibling is under way, or it was recorded meanwhile: the next look finds which. */
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
