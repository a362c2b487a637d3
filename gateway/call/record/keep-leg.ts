import { atomicAmount } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { agentId, type TaskId } from '../../../schema/ids.ts';
import { networks } from '../../../schema/network.ts';
import { foreignRef, type ObservedTransfer, transferSlot } from '../../../schema/observed-transfer.ts';
import { voidReservations } from '../../../subgraphs/book/ledger/reserve.ts';
import type { Database, Tx } from '../../../subgraphs/database.ts';
import type { Lease } from '../../../subgraphs/receipt/claim/claim.ts';
import { holdLeg } from '../../../subgraphs/receipt/claim/held-leg.ts';
import { RECORDED_ELSEWHERE } from '../../../subgraphs/receipt/claim/slots.ts';
import { abandonClaim, markFinal } from '../../../subgraphs/receipt/claim/transitions.ts';
import type { Leg } from '../../../subgraphs/sale.ts';
import type { Faults } from '../../operations/faults.ts';
import type { RecordableOutcome } from '../../rails/outcome.ts';
import type { Authorization } from '../../rails/payment.ts';

/** Claim of a payment that has moved, of which nothing is recorded before its sibling has moved too. */
export interface MovedLeg {
  readonly paid: Leg<JsonObject>;
  readonly args: JsonObject;
  readonly task_id: TaskId;
  readonly lease: Lease;
  readonly authorization: Authorization;
  readonly transfer: RecordableOutcome;
}

export interface KeepParts {
  readonly database: Database;
  readonly faults: Faults | null;
}

/**
 * For the first of two payments: its claim becomes `held`, with its transfer. If the transfer is on a book already, as a payment
 * to someone else, the claim is released for good, because one transfer is never two rows. @throws if the claim belongs to
 * another process or was released
 */
export async function keepLeg({ database, faults }: KeepParts, leg: MovedLeg): Promise<void> {
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

/** The transfer as it is held. @throws if it was not seen */
export function transferOf(
  { network, payer, pay_to, amount_atomic }: Authorization,
  transfer: RecordableOutcome,
): ObservedTransfer & JsonObject {
  // A payment is reported as held only once it was seen.
  if (transfer.kind === 'vouched') throw new Error(`${transfer.tx_hash} was vouched for and not seen`);
  const place = { network, transaction: transfer.tx_hash, index: transfer.transfer_index };
  return { ...place, rail: 'usdc', asset: networks[network].usdc, payer, pay_to, amount: amount_atomic.toString() };
}
