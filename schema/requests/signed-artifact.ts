import * as z from 'zod';
import { ingestLimits } from '../limits.ts';
import { storedText } from './text.ts';

/* The signed artifacts of x402's offer-and-receipt extension, as a shop sent them: typed data, or a JWS. */

const text = storedText.max(ingestLimits.resource_chars_max);
const seconds = z.int().min(0);
const ofPayload = <S extends z.ZodType>(payload: S) =>
  z.discriminatedUnion('format', [
    z.object({
      format: z.literal('eip712'),
      payload,
      signature: z.string().regex(/^0x[0-9a-fA-F]{130}$/, { error: 'is not 65 bytes in hex' }),
    }),
    z.object({ format: z.literal('jws'), signature: storedText.max(ingestLimits.jws_chars_max) }),
  ]);

/** §4.2 of the extension. */
export const OfferTerms = z.strictObject({
  version: z.literal(1),
  resourceUrl: text,
  scheme: text,
  /** CAIP-2. */
  network: text,
  asset: text,
  payTo: text,
  /** Digits of atomic units. */
  amount: text,
  /** Unix seconds; 0: without an end. */
  validUntil: seconds.default(0),
});

/** §5.2 of the extension. */
export const DeliveryFacts = z.strictObject({
  version: z.literal(1),
  /** CAIP-2. */
  network: text,
  resourceUrl: text,
  payer: text,
  /** Unix seconds. */
  issuedAt: seconds,
  /** Empty where the shop keeps it to itself. */
  transaction: text.default(''),
});

export const OfferReceipt = z
  .strictObject({
    offer: ofPayload(OfferTerms).nullish().describe('Of `PAYMENT-REQUIRED`: what was asked for what.'),
    receipt: ofPayload(DeliveryFacts).nullish().describe('Of `PAYMENT-RESPONSE`: that it was paid.'),
  })
  .refine(({ offer, receipt }) => offer != null || receipt != null, { error: 'holds neither an offer nor a receipt' });
export type OfferReceipt = z.output<typeof OfferReceipt>;
