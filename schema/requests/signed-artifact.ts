import * as z from 'zod';
import { ingestLimits } from '../limits.ts';
import { storedText } from './text.ts';

/* Signed artifacts of x402's offer-receipt extension by another service: typed data, or a JWS. */

const text = storedText.max(ingestLimits.resource_chars_max);
const seconds = z.int().min(0);
const network = text.describe('Network of the payment, as a CAIP-2 id such as `eip155:8453`.');
const resourceUrl = text.describe('URL of the resource that is sold.');
const ofPayload = <S extends z.ZodType>(payload: S) =>
  z.discriminatedUnion('format', [
    z.object({
      format: z.literal('eip712'),
      payload: payload.describe('Members that `signature` covers.'),
      signature: z
        .string()
        .regex(/^0x[0-9a-fA-F]{130}$/, { error: 'is not 65 bytes: 0x and 130 hex digits' })
        .describe('EIP-712 signature: 0x and 130 hex digits.'),
    }),
    z.object({
      format: z.literal('jws'),
      signature: storedText
        .max(ingestLimits.jws_chars_max)
        .describe('Compact JWS (EdDSA) whose payload has the signed members.'),
    }),
  ]);

/** §4.2 of the offer-receipt extension. */
export const OfferTerms = z.strictObject({
  version: z.literal(1),
  resourceUrl,
  scheme: text.describe('Payment scheme, such as `exact`.'),
  network,
  asset: text.describe('Contract (Base) or mint (Solana) of the token.'),
  payTo: text.describe('Address of the wallet to be paid.'),
  amount: text.describe('Amount in atomic units of the token, as digits.'),
  validUntil: seconds.default(0).describe('Time the offer expires, in Unix seconds. 0 (default): never.'),
});

/** §5.2 of the offer-receipt extension. */
export const DeliveryFacts = z.strictObject({
  version: z.literal(1),
  network,
  resourceUrl,
  payer: text.describe('Address of the wallet that paid.'),
  issuedAt: seconds.describe('Time the receipt was issued, in Unix seconds.'),
  transaction: text.default('').describe('Id of the transaction of the payment. Default: empty, if it is not stated.'),
});

export const OfferReceipt = z
  .strictObject({
    offer: ofPayload(OfferTerms)
      .nullish()
      .describe('Signed offer, from the JSON in the header `PAYMENT-REQUIRED`. Send this, `receipt` or both.'),
    receipt: ofPayload(DeliveryFacts)
      .nullish()
      .describe('Signed receipt, from the JSON in the header `PAYMENT-RESPONSE`. Send this, `offer` or both.'),
  })
  .refine(({ offer, receipt }) => offer != null || receipt != null, {
    error: 'has neither an offer nor a receipt: send at least one',
  });
export type OfferReceipt = z.output<typeof OfferReceipt>;
