import { z } from 'zod';
import { Atomic, nameComponents } from '../answer-shapes.ts';
import { FulfillmentEnvelope, IssuerSignature } from '../receipt/signed-receipt.ts';

/** What an ingest answers, as it looks on the wire: each null that was signed stands there, since `signature` is over all of it. */
export const IngestAnswer = z.object({
  task_id: z.string().describe('Of the row and its receipt.'),
  agent_id: z.int(),
  payment: z.object({
    ref: z.string().describe('`network:transaction`.'),
    rail: z.enum(['usdc', 'xno']),
    amount: Atomic.describe('As its chain shows it, in atomic units of the rail.'),
    collected: z.boolean().describe('Whether it counts on the book: its payer is proven.'),
  }),
  payer_proven: z
    .boolean()
    .optional()
    .describe(
      'Whether the payer is proven to belong to this book. If false, the amount counts in no sum of the book. Absent from an ingest that was recorded before this member was introduced.',
    ),
  payer_text: z
    .string()
    .optional()
    .describe(
      'Text for the wallet that paid to sign, with its last part replaced by the current Unix seconds. Send the signature as `payer_signature` in another ingest of the same transfer: its row then replaces this one. Absent if the payer is proven.',
    ),
  route: z.object({ hub: z.string().nullable(), model: z.string().nullable(), resource: z.string().nullable() }),
  verify_url: z.string(),
  foreign_x402: z.literal(true),
  source: z.literal('foreign_ingest'),
  evidence: z.literal('foreign_ingest'),
  fulfillment: FulfillmentEnvelope,
  recorded_at: z.iso.datetime(),
  signature: z
    .object({ alg: z.literal('ES256'), scope: z.literal('recorded'), value: z.string() })
    .nullable()
    .describe(
      'Over the canonical JSON (RFC 8785) of this answer without it and without issuer_signature, by a key of ' +
        '/.well-known/jwks.json, base64url: this service has recorded it, and attests to nothing for whoever was paid.',
    ),
  issuer_signature: IssuerSignature.describe(
    'Of the receipt of the row (payload version 4): its token signs book_id and payment_ref side by side.',
  ),
});

nameComponents({ ForeignIngest: IngestAnswer });
