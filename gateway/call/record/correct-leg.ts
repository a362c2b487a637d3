import { atomicAmount } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { agentId } from '../../../schema/ids.ts';
import { foreignRef, type ObservedTransfer, transferSlot } from '../../../schema/observed-transfer.ts';
import { voidReservations } from '../../../subgraphs/book/ledger/reserve.ts';
import type { Tx } from '../../../subgraphs/database.ts';
import type { PaymentClaim } from '../../../subgraphs/receipt/claim/claim.entity.ts';
import { lockHeldTransfer, moveHold, releaseHeld } from '../../../subgraphs/receipt/claim/held-leg.ts';
import { isTaken, RECORDED_ELSEWHERE, VANISHED } from '../../../subgraphs/receipt/claim/slots.ts';
import type { Leg } from '../../../subgraphs/sale.ts';
import type { NotTransferred, Transferred } from '../../rails/outcome.ts';
import { paymentFromJson } from '../../rails/payment.ts';
import { transferOf } from './keep-leg.ts';

/** A first payment as it is held, and what it was requested for. */
export interface KeptLeg {
  readonly paid: Leg<JsonObject>;
  readonly args: JsonObject;
  readonly claim: Pick<PaymentClaim, 'claimKey' | 'taskId' | 'authorization'>;
}

/**
 * Updates a held payment to the chain's state: it is where it was seen, or elsewhere, or it never moved. In the last case its job
 * must be paid again, and its book gets back what it held for both. False if nothing was done, because it is no longer held or
 * its sibling is open: that one was sent for what is held, and is recorded with it or released first. No sibling is sent for what
 * is released here, because each takes its own slot before it checks what is held, and sees the doubt until this commits.
 */
export async function correctLeg(tx: Tx, leg: KeptLeg, decision: Transferred | NotTransferred): Promise<boolean> {
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

/** Whether that is the very transfer that is held. */
export function isAsHeld(leg: KeptLeg & { claim: Pick<PaymentClaim, 'heldTransfer'> }, moved: Transferred): boolean {
  const now = transferBy(leg, moved);
  return now !== null && isWhere(leg.claim.heldTransfer as ObservedTransfer, now);
}

function transferBy({ claim }: KeptLeg, decision: Transferred | NotTransferred) {
  if (decision.kind === 'not_transferred') return null;
  return transferOf(paymentFromJson(claim.authorization).authorization, decision);
}

function isWhere(one: ObservedTransfer, other: ObservedTransfer): boolean {
  return transferSlot(one) === transferSlot(other);
}

/** The job first: recording writes to the board before it locks books. */
async function letGo(tx: Tx, { paid, args, claim }: KeptLeg, reason: string): Promise<void> {
  paid.onRelease(tx, args, claim.taskId);
  const left = await releaseHeld(tx, claim.claimKey, reason);
  if (left === null) throw new Error(`${claim.taskId} was locked, and is held no more`);
  if (left.agent_id !== null && left.reserved_atomic > 0n)
    await voidReservations(tx, [{ agent_id: agentId(left.agent_id), amount: atomicAmount(left.reserved_atomic) }]);
}
