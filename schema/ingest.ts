import { z } from 'zod';
import { ReceiptKeyNoun } from './book/receipt-key.ts';
import { AtomicMember, MomentMember } from './noun.ts';
import { FulfillmentNoun } from './receipt-shapes.ts';

/* A payment to others that is recorded on a book, as it is shown. */

export const IngestedPaymentNoun = z.object({
  ref: z.string().describe('Payment as `network:transaction`.'),
  rail: z.enum(['usdc', 'xno']).describe('Rail of the payment: `usdc` or `xno`.'),
  amount: AtomicMember.describe('Amount as the chain shows it, in atomic units of the rail.'),
  collected: z.boolean().describe('True if the amount counts on the book, because the payer is proven.'),
});

export const IngestedRouteNoun = z.object({
  hub: z
    .string()
    .nullable()
    .describe(
      'Hub that served the call: as the request names it, or else the host of the resource. Null if neither is known.',
    ),
  model: z
    .string()
    .nullable()
    .describe(
      'Model or path that was bought from the other service, as the request names it. Null if the request names none.',
    ),
  resource: z.string().nullable().describe('URL or name of what was bought. Null if the request does not say.'),
});

export const RecordedSignatureNoun = z.object({
  alg: z.literal('ES256').describe('Algorithm of the signature, as JOSE names it: `ES256`.'),
  scope: z
    .literal('recorded')
    .describe('Always `recorded`: this service has recorded the payment, and attests to nothing else.'),
  value: z
    .string()
    .describe(
      'Signature over the canonical JSON of the REST response without `signature` and `issuer_signature`, in base64url.',
    ),
});

export const IngestedFulfillmentNoun = FulfillmentNoun.describe(
  'What was delivered for the payment, as the request states it.',
);

/** As the graph shows it. REST adds the token of its receipt. */
export const IngestedSpendNoun = z.object({
  task_id: z.string().describe('Task id of the row and of its receipt.'),
  agent_id: z.int().describe('Id of the agent of the book.'),
  payment: IngestedPaymentNoun.describe(
    'The payment as its chain shows it: reference, rail and amount. `collected` says whether the amount counts on the book.',
  ),
  payer_proven: z
    .boolean()
    .optional()
    .describe(
      'Whether the payer is proven to belong to this book. If false, the amount counts in no sum of the book. Null or absent for an ingest from before this member was introduced.',
    ),
  payer_text: z
    .string()
    .optional()
    .describe(
      'Text that the paying wallet can sign to prove the payer. Replace the Unix seconds at its end with the current ones, sign, and ingest the same transfer again with the signature as `payer_signature` and these seconds as `payer_signature_timestamp`: the new row replaces this row. Null or absent if the payer is proven.',
    ),
  route: IngestedRouteNoun.describe('What the payment bought: hub, model and resource, each null if not known.'),
  verify_url: z.string().describe('URL of the public page of the receipt.'),
  foreign_x402: z
    .literal(true)
    .describe('Always true: the payment was made to somebody else and is only recorded here.'),
  source: z.literal('foreign_ingest').describe('Always `foreign_ingest`.'),
  evidence: z.literal('foreign_ingest').describe('Always `foreign_ingest`.'),
  fulfillment: IngestedFulfillmentNoun,
  recorded_at: MomentMember.describe('Time the payment was recorded (RFC 3339, UTC).'),
  signature: RecordedSignatureNoun.nullable().describe(
    'Signature over the canonical JSON (RFC 8785) of this response as REST shows it, without `signature` and `issuer_signature`, by a key of ' +
      '/.well-known/jwks.json. It attests that this service recorded the payment, and says nothing on behalf of the party that was paid. The service always sets it.',
  ),
});

/** Members that only the graph has. */
export const SpendOnGraph = z.object({ receipt: ReceiptKeyNoun.describe('Signed receipt of the row.') });
