import { isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { payloadVersionOf } from '../../../schema/receipt-payload.ts';
import { unless } from './signed.ts';

/** Whether a token signs what its payload version must: the sentence of the fault, null where there is none. */
export function versionFault(claims: JsonObject): string | null {
  const version = payloadVersionOf(claims);
  if (version === null) return 'The payload version is not known.';
  const missing = version.signs.filter(name => claims[name] === undefined || claims[name] === null);
  return unless(missing.length === 0, `Version ${String(claims.payload_version)} must sign ${missing.join(', ')}.`);
}

/** Of a lane without a payment of ours book and reference are signed side by side, and of any other neither is. */
export function bookChainFault(claims: JsonObject): string | null {
  const { book_id, payment_ref, claim_id, payment, waived_by, observed_transfer, payer_proven } = claims;
  if (payloadVersionOf(claims)?.family !== 'book_chain')
    return unless(
      [book_id, payment_ref, observed_transfer, payer_proven].every(claim => claim === undefined),
      'book_id, payment_ref and observed_transfer are signed side by side by a book chain alone.',
    );
  if (payment !== undefined || waived_by !== undefined) return 'A book chain signs no payment of ours, and no key.';
  if (claim_id !== undefined && claim_id !== book_id) return 'claim_id and book_id name two books.';
  if (!isJsonObject(observed_transfer)) return unless(payer_proven === undefined, 'It names a payer and no transfer.');
  const { network, transaction } = observed_transfer;
  return unless(
    payment_ref === `${String(network)}:${String(transaction)}` && typeof payer_proven === 'boolean',
    'The transfer that was looked up is not that of payment_ref, or it is not said whose payer it has.',
  );
}

/** What an early version did not sign cannot disagree. */
export const signsLess = (claims: JsonObject) => payloadVersionOf(claims)?.signs_less === true;
