import { z } from 'zod';

/* The path of GET /v1/settlements/{payment_id}: what a payment is called. */

/**
 * What a payment is called: the EIP-3009 nonce (0x and 64 hex digits), the message hash on Solana (64 hex digits), or the
 * payment-identifier of its client, which may be the longest.
 */
export const PaymentId = z.object({
  payment_id: z
    .string()
    .regex(/^[\w-]{16,128}$/, { error: 'is no nonce, no message hash and no payment identifier' })
    .overwrite(id => (/^(0x)?[0-9a-f]{64}$/i.test(id) ? id.toLowerCase() : id))
    .describe(
      'Nonce of the authorization (EIP-3009), message hash (Solana), or payment-identifier that the client gave.',
    ),
});

/** Whose payment is meant, where several payers call theirs the same. */
export const PaymentPayer = z.object({
  payer: z
    .string()
    .regex(/^(0x[0-9a-f]{40}|[1-9a-hj-np-z]{32,44})$/i, { error: 'is no address' })
    .optional()
    .describe('Wallet that paid. Required if several payers use the same name for a payment.'),
});
