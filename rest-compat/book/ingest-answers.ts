import { IngestedSpendNoun } from '../../schema/ingest.ts';
import { nameComponents } from '../answer-shapes.ts';
import { FulfillmentEnvelope, IssuerSignature } from '../receipt/signed-receipt.ts';

/** What an ingest answers, as it looks on the wire: each null that was signed stands there, since `signature` is over all of it. */
export const IngestAnswer = IngestedSpendNoun.extend({
  fulfillment: FulfillmentEnvelope,
  issuer_signature: IssuerSignature.describe(
    'Signature of the receipt of the row (payload version 4): its token signs book_id and payment_ref side by side.',
  ),
});

nameComponents({ ForeignIngest: IngestAnswer });
