import { atomicAmount } from '../../schema/amount.ts';
import { type JsonObject } from '../../schema/canonical-json.ts';
import { agentId, type TaskId } from '../../schema/ids.ts';
import { networks } from '../../schema/network.ts';
import { foreignRef, type ObservedTransfer, transferSlot } from '../../schema/observed-transfer.ts';
import { voidReservations } from '../../subgraphs/book/ledger/reserve.ts';
import { type PaymentClaim } from '../../subgraphs/receipt/claim/claim.entity.ts';
import { type Lease } from '../../subgraphs/receipt/claim/claim.ts';
import { certaintyOf, doubtHeld } from '../../subgraphs/receipt/claim/doubt.ts';
import { holdLeg, lockHeldTransfer, moveHold, releaseHeld } from '../../subgraphs/receipt/claim/held-leg.ts';
import { isTaken, RECORDED_ELSEWHERE, VANISHED } from '../../subgraphs/receipt/claim/slots.ts';
import { abandonClaim, markFinal } from '../../subgraphs/receipt/claim/transitions.ts';
import { type Leg } from '../../subgraphs/sale.ts';
import { type Tx } from '../../subgraphs/transaction.ts';
import { type NotTransferred, type RecordableOutcome, type Transferred } from '../rails/outcome.ts';
import { type Authorization, paymentFromJson } from '../rails/payment.ts';
import { railOf, sentOf } from '../rails/rail.ts';
import { type Ground } from './ground.ts';

/** Claim of a payment that has moved. It is not recorded before its sibling has moved too. */
export interface MovedLeg {
  readonly paid: Leg<JsonObject>;
  readonly args: JsonObject;
  readonly task_id: TaskId;
  readonly lease: Lease;
  readonly authorization: Authorization;
  readonly transfer: RecordableOutcome;
}

/**
 * Holds the first of two payments: its claim becomes `held` and stores the transfer. If the transfer is already on a book, as a payment to
 * somebody else, the claim is released permanently, because a transfer is recorded in one row only.
 * @throws if the claim belongs to another process or was released
 */
export async function keepLeg({ database, faults }: Pick<Ground, 'database' | 'faults'>, leg: MovedLeg): Promise<void> {
  const { paid, args, task_id, lease, authorization, transfer } = leg;
  const moved = transferOf(authorization, transfer);
  const held = await database.transaction(async tx => {
    const outcome = await holdLeg(tx, lease, moved, transferSlot(moved));
    if (outcome === 'held') paid.onHold(tx, args, { task_id, payment_ref: foreignRef(moved) });
    await faults?.reach('in_hold');
    if (outcome === 'taken') await endRecordedElsewhere(tx, lease);
    return outcome;
  });
  if (held === 'lost') throw new Error(`the claim of ${moved.transaction} is held by another process`);
  if (held === 'taken') throw new Error(`${moved.transaction} stands on a book already, as a payment to somebody else`);
}

async function endRecordedElsewhere(tx: Tx, lease: Lease): Promise<void> {
  const left = await abandonClaim(tx, lease, RECORDED_ELSEWHERE, true);
  if (left.kind !== 'released') throw new Error(`${lease.claim_key} was locked, and is ${left.kind}`);
  if (left.agent_id !== null && left.reserved_atomic > 0n)
    await voidReservations(tx, [{ agent_id: agentId(left.agent_id), amount: atomicAmount(left.reserved_atomic) }]);
  await markFinal(tx, { claimKey: lease.claim_key, leaseEpoch: lease.lease_epoch });
}

/** The transfer in the form in which it is held. @throws if it was not seen */
export function transferOf(
  { network, payer, pay_to, amount_atomic }: Authorization,
  transfer: RecordableOutcome,
): ObservedTransfer & JsonObject {
  // A payment is reported as held only once it was seen.
  if (transfer.kind === 'vouched') throw new Error(`${transfer.tx_hash} was vouched for and not seen`);
  const place = { network, transaction: transfer.tx_hash, index: transfer.transfer_index };
  return { ...place, rail: 'usdc', asset: networks[network].usdc, payer, pay_to, amount: amount_atomic.toString() };
}

/** The held first payment, and what it was requested for. */
export interface HeldLeg {
  readonly paid: Leg<JsonObject>;
  readonly args: JsonObject;
  readonly claim: Pick<PaymentClaim, 'claimKey' | 'taskId' | 'authorization'>;
}

/**
 * Updates a held payment to the chain's state: the transfer is where it was seen, or elsewhere, or it never moved. If it never moved, its
 * job must be paid again, and its book gets back what it held for both payments. Returns false if nothing was done, because the payment is
 * no longer held or its sibling is open. An open sibling was sent for the held payment, so it is recorded with it or released first. No
 * sibling is sent for a payment that is released here: each takes its own slot before it checks what is held, and sees the doubt until this
 * transaction commits.
 */
export async function correctLeg(tx: Tx, leg: HeldLeg, decision: Transferred | NotTransferred): Promise<boolean> {
  const { paid, args, claim } = leg;
  const seen = (await lockHeldTransfer(tx, claim.claimKey)) as ObservedTransfer | null;
  if (seen === null) return false;
  const moved = transferBy(leg, decision);
  if (moved !== null && isWhere(seen, moved)) return true;
  if (await isTaken(tx, paid.second_slot(args))) return false;
  if (moved === null) {
    await letGo(tx, leg, VANISHED);
    return true;
  }
  const place = { transfer: moved, slot: transferSlot(moved) };
  if ((await moveHold(tx, claim.claimKey, transferSlot(seen), place)) === 'taken')
    await letGo(tx, leg, RECORDED_ELSEWHERE);
  else paid.onHold(tx, args, { task_id: claim.taskId, payment_ref: foreignRef(moved) });
  return true;
}

/** Whether the payment's transfer is the one that is held. */
function isAsHeld(leg: HeldLeg & { claim: Pick<PaymentClaim, 'heldTransfer'> }, moved: Transferred): boolean {
  const now = transferBy(leg, moved);
  return now !== null && isWhere(leg.claim.heldTransfer as ObservedTransfer, now);
}

function transferBy({ claim }: HeldLeg, decision: Transferred | NotTransferred) {
  if (decision.kind === 'not_transferred') return null;
  return transferOf(paymentFromJson(claim.authorization).authorization, decision);
}

function isWhere(one: ObservedTransfer, other: ObservedTransfer): boolean {
  return transferSlot(one) === transferSlot(other);
}

/** Releases a held payment. The job is changed first, because recording also writes to the board before it locks books. */
async function letGo(tx: Tx, { paid, args, claim }: HeldLeg, reason: string): Promise<void> {
  paid.onRelease(tx, args, claim.taskId);
  const left = await releaseHeld(tx, claim.claimKey, reason);
  if (left === null) throw new Error(`${claim.taskId} was locked, and is held no more`);
  if (left.agent_id !== null && left.reserved_atomic > 0n)
    await voidReservations(tx, [{ agent_id: agentId(left.agent_id), amount: atomicAmount(left.reserved_atomic) }]);
}

/**
 * `stands`: the transfer is where it is held. `changing`: it is in doubt, or was just found elsewhere. `unknown`: the chain does not
 * answer.
 */
type FirstStanding = 'stands' | 'changing' | 'unknown';

/**
 * Whether the first of two payments is where it is held. Its block may have been replaced since, so the chain is asked until the finalized
 * chain contains it. A final payment is not looked up: it is permanent, and nodes delete old transactions.
 */
export async function lookAtFirst(
  { database, rails }: Pick<Ground, 'database' | 'rails'>,
  first: HeldLeg & { readonly claim: PaymentClaim },
): Promise<FirstStanding> {
  const { claim } = first;
  const certainty = await certaintyOf(database, claim.claimKey);
  if (certainty !== 'seen') return certainty === 'final' ? 'stands' : 'changing';
  const decision = await railOf({ rails }, claim.network).decide(paymentFromJson(claim.authorization), sentOf(claim));
  if (decision.kind === 'unknown') return 'unknown';
  if (decision.kind === 'transferred' && isAsHeld(first, decision)) return 'stands';
  // A later block may still include the transfer, so only the check of doubted payments releases it.
  if (decision.kind === 'not_transferred') await doubtHeld(database, claim.claimKey);
  else await database.transaction(tx => correctLeg(tx, first, decision));
  return 'changing';
}
