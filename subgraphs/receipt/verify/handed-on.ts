import { isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { settlementBasis } from '../../../schema/receipt-payload.ts';

/**
 * A receipt that was handed on names its parent and whom it is for, under a session; it is of no payment and no key, or it
 * would back what its parent backs already. The sentence of the fault, null where there is none.
 */
export function handedOnFault(claims: JsonObject): string | null {
  const { parent_receipt_id, target_agent, delegation_hash, caller_binding, payment, payment_ref, book_id } = claims;
  if (parent_receipt_id === undefined && target_agent === undefined) return null;
  if (parent_receipt_id === undefined || target_agent === undefined || delegation_hash === undefined)
    return 'The receipt was handed on, and does not say all of: which one, to whom, under which session.';
  const bound = isJsonObject(caller_binding) ? caller_binding : {};
  const paid = [payment, payment_ref, book_id, claims.legs, bound.payer_wallet].some(member => member !== undefined);
  if (paid || settlementBasis(claims) !== null) return 'The receipt was handed on, and names a payment.';
  const other = [claims.waived_by, claims.reported, bound.api_key_hash].some(member => member !== undefined);
  return other ? 'The receipt was handed on, and is of something else at once.' : null;
}
