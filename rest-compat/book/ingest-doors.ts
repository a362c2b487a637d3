import { z } from 'zod';
import { isJsonObject, type Json, present } from '../../schema/canonical-json.ts';
import { EXAMPLE_ADDRESS } from '../../schema/eip55.ts';
import { IngestedSpendNoun } from '../../schema/ingest.ts';
import { ingestLimits, limits } from '../../schema/limits.ts';
import { FulfillmentNoun, IssuerSignatureNoun, OutputCommitmentNoun } from '../../schema/receipt-shapes.ts';
import { IngestRequest } from '../../schema/requests/ingest.ts';
import { nameComponents } from '../answer-shapes.ts';
import { documentDoor } from '../door.ts';
import { AgentPath } from './doors.ts';

/** Response to an ingest. All signed nulls are present, because `signature` covers the whole. */
export const IngestAnswer = IngestedSpendNoun.extend({
  issuer_signature: IssuerSignatureNoun.describe(
    'Signature of the receipt of the row (payload version 4). The claims of its `jws` include both `book_id` and `payment_ref`.',
  ),
});

nameComponents({ ForeignIngest: IngestAnswer });

/** As on the graph. The signed ingest does not state which members the hash of the output covers. */
const IngestedSpend = IngestedSpendNoun.extend({
  fulfillment: FulfillmentNoun.extend({ output_commitment: OutputCommitmentNoun.omit({ covers: true }) }),
  receipt: z.object({ document: z.unknown() }),
});

/** Payments to other services, recorded on a book. */
export const ingestDoors = [
  documentDoor({
    name: 'ingest_foreign_x402',
    effect: 'adds',
    tool: { daily: true },
    methods: ['POST'],
    path: '/v1/agents/{agent_id}/book/ingest',
    summary:
      'Record a payment to somebody else after checking its chain: USDC on Base or Solana, or a cemented XNO send',
    example: {
      foreign_invoice: { amount: '2000', payer: EXAMPLE_ADDRESS, payTo: EXAMPLE_ADDRESS, tx: `0x${'0'.repeat(64)}` },
    },
    tags: ['book'],
    possession: 'required',
    challenge: 'after_possession',
    // API keys of customers pay for calls; an ingest key is a different kind.
    price: {
      amount_atomic: limits.stamp_price_atomic,
      networks: ['base', 'solana'],
      stamp: true,
      paid_by: ['payment', 'waiver_key'],
    },
    status: 201,
    body_bytes_max: ingestLimits.request_bytes_max,
    field: 'ingestForeignSpend',
    shows: IngestedSpend,
    params: AgentPath,
    body: IngestRequest,
    answer: ({ answer }) => withToken(answer),
    // The signed payload leaves `by` out if there is no commitment.
    nulls: { 'fulfillment.output_commitment': ['hash', 'kind', 'omission_rule'] },
    response: IngestAnswer,
    errors: [
      'transfer_not_believed',
      'payer_signature_invalid',
      'offer_receipt_invalid',
      'duplicate_ref',
      'too_many_disbelieved',
      'network_not_served',
    ],
  }),
] as const;

/** The receipt's token is part of the response, so that the book and the transfer are signed together. */
function withToken(answer: Json | undefined): Json {
  if (!isJsonObject(answer)) return null;
  const { receipt, payer_proven, payer_text, ...members } = answer;
  const document = isJsonObject(receipt) && isJsonObject(receipt.document) ? receipt.document : {};
  // Members that are null are not signed, so they are left out.
  return { ...members, ...present({ payer_proven, payer_text }), issuer_signature: document.issuer_signature ?? null };
}
