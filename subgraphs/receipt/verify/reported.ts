import { isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { settlementBasis } from '../../../schema/receipt-payload.ts';
import { isInbound } from '../../../schema/router/reported.ts';

/** On what kind of work each reporter's word stands. */
const kinds = { router_book: 'router_broadcast', inbound: 'other' } as const;

/**
 * What was reported of work that others did is no payment: whatever says otherwise beside it makes the receipt one of two
 * things at once. Of a completion that was reported to the board the issuer may have seen the transfer, and says so in both
 * places or in none. The sentence of the fault, null where there is none.
 */
export function reportedFault(claims: JsonObject): string | null {
  const { reported, payment, waived_by, book_id, payment_ref, caller_binding, job_kind } = claims;
  if (reported === undefined) return null;
  const bound = isJsonObject(caller_binding) ? caller_binding : {};
  const paid = [payment, payment_ref, book_id, bound.payer_wallet].some(member => member !== undefined);
  const inbound = isJsonObject(reported) && isInbound(reported);
  const basis = isJsonObject(reported) ? basisOf(reported) : null;
  if (paid || settlementBasis(claims) !== basis) return 'The receipt says what was reported, and names a payment.';
  if (waived_by !== undefined || bound.api_key_hash !== undefined)
    return 'The receipt says what was reported, and names a key that stood in for a payment.';
  const kind = kinds[inbound ? 'inbound' : 'router_book'];
  return job_kind === kind ? null : 'What was reported stands on another kind of work.';
}

/** A router's word is no look at a chain. */
function basisOf(reported: JsonObject): 'observed_transfer' | null {
  const { verified_with, payment_ref } = reported;
  const seen = isInbound(reported) && verified_with !== undefined;
  return seen && payment_ref !== undefined ? 'observed_transfer' : null;
}
