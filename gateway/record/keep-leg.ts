import type { JsonObject } from '../../schema/canonical-json.ts';
import type { TaskId } from '../../schema/ids.ts';
import { networks } from '../../schema/network.ts';
import { foreignRef, type ObservedTransfer, transferSlot } from '../../schema/observed-transfer.ts';
import type { Database } from '../../subgraphs/database.ts';
import type { Lease } from '../../subgraphs/receipt/claim/claim.ts';
import { holdLeg } from '../../subgraphs/receipt/claim/held-leg.ts';
import type { Leg } from '../../subgraphs/sale.ts';
import type { Moved } from '../rails/outcome.ts';
import type { Authorization } from '../rails/payment.ts';

/** A payment's claim that has moved, and of which nothing is recorded before its sibling has moved, too. */
export interface MovedLeg {
  readonly paid: Leg<JsonObject>;
  readonly args: JsonObject;
  readonly task_id: TaskId;
  readonly lease: Lease;
  readonly authorization: Authorization;
  readonly transfer: Moved;
}

/** Of the first of two payments: its claim becomes `held`, with its transfer. @throws where it is somebody else's by now */
export async function keepLeg(database: Database, leg: MovedLeg): Promise<void> {
  const { paid, args, task_id, lease, authorization, transfer } = leg;
  const moved = transferOf(authorization, transfer);
  const held = await database.transaction(async tx => {
    const is_held = await holdLeg(tx, lease, moved, transferSlot(moved));
    if (is_held) paid.kept(tx, args, { task_id, payment_ref: foreignRef(moved) });
    return is_held;
  });
  if (!held) throw new Error(`the claim of ${moved.transaction} is held by another process`);
}

function transferOf(
  { network, payer, pay_to, amount_atomic }: Authorization,
  transfer: Moved,
): ObservedTransfer & JsonObject {
  // Nobody is told that it is held before it was seen.
  if (transfer.kind === 'vouched') throw new Error(`${transfer.tx_hash} was vouched for and not seen`);
  const place = { network, transaction: transfer.tx_hash, index: transfer.transfer_index };
  return { ...place, rail: 'usdc', asset: networks[network].usdc, payer, pay_to, amount: amount_atomic.toString() };
}
