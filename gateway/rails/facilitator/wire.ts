import { z } from 'zod';
import { type NetworkName, networkNamed, networks } from '../../../schema/network.ts';

/** A facilitator's word for why not, as far as it may be repeated to a caller. */
const reason = z
  .string()
  .regex(/^[\w.-]{1,100}$/)
  .nullish()
  .catch(null);

export const verifyAnswer = z.object({ isValid: z.boolean(), invalidReason: reason });

/** How each network spells what a transaction is called; all of it that an answer may name. */
const transactions: Record<NetworkName, (named: string) => string | null> = {
  base: named => (/^0x[0-9a-fA-F]{64}$/.test(named) ? named.toLowerCase() : null),
  solana: named => (/^[1-9A-HJ-NP-Za-km-z]{64,88}$/.test(named) ? named : null),
};

/** Where it names a network it must be the one that it was asked about, or it speaks of another payment. */
export function settleAnswer(network: NetworkName) {
  return z
    .object({
      success: z.boolean(),
      errorReason: reason,
      transaction: z.string().max(200).nullish(),
      network: z
        .string()
        .refine(name => networkNamed(name) === network)
        .nullish(),
    })
    .transform(({ success, errorReason, transaction }) => ({
      success,
      reason: errorReason ?? null,
      tx_hash: transactions[network](transaction ?? ''),
    }));
}

export const supportedAnswer = z.object({
  kinds: z.array(
    z.object({
      x402Version: z.number(),
      scheme: z.string(),
      network: z.string(),
      extra: z.object({ feePayer: z.string().nullish() }).nullish().catch(null),
    }),
  ),
});
export type Supported = z.infer<typeof supportedAnswer>;

/** The kind in which it settles what we sell on that network: `exact`, in v2. It may name all networks of a family at once. */
export function ourKind({ kinds }: Supported, network: NetworkName): Supported['kinds'][number] | null {
  const family = `${networks[network].caip2.split(':')[0]}:*`;
  const ours = kinds.find(
    ({ x402Version, scheme, network: named }) =>
      x402Version === 2 && scheme === 'exact' && (networkNamed(named) === network || named === family),
  );
  return ours ?? null;
}

/**
 * The words by which a facilitator says that the payment itself is at fault, found before anything was sent: those of
 * x402's specification (v2, section 9) and of its own packages. All others may hide a transaction whose hash was lost:
 * `transaction_failed` and `unexpected_settle_error` are said where a node took the transaction and its answer broke off,
 * and `nonce_already_used` may be the word for the very transfer that it has just made.
 */
export const refusedBeforeSending: ReadonlySet<string> = new Set([
  'insufficient_funds',
  'insufficient_balance',
  'invalid_exact_evm_insufficient_balance',
  'invalid_exact_evm_signature',
  'invalid_exact_evm_payload_signature',
  'invalid_exact_evm_failed_to_parse_signature',
  'invalid_exact_evm_authorization_value',
  'invalid_exact_evm_payload_authorization_value',
  'invalid_exact_evm_payload_authorization_value_mismatch',
  'invalid_exact_evm_payload_authorization_valid_after',
  'invalid_exact_evm_payload_authorization_valid_before',
  'invalid_exact_evm_recipient_mismatch',
  'invalid_exact_evm_payload_recipient_mismatch',
  'invalid_exact_evm_network_mismatch',
  'invalid_exact_evm_scheme',
  'invalid_exact_evm_missing_eip712_domain',
  'invalid_exact_evm_token_name_mismatch',
  'invalid_exact_evm_token_version_mismatch',
  'invalid_exact_evm_eip3009_not_supported',
  'eip6492_factory_not_allowed',
  'invalid_exact_svm_network_mismatch',
  'invalid_exact_svm_fee_payer_not_managed_by_facilitator',
  'invalid_exact_svm_fee_payer_mismatch',
  'invalid_exact_svm_payload_missing_fee_payer',
  'invalid_exact_svm_payload_transaction',
  'invalid_exact_svm_payload_transaction_could_not_be_decoded',
  'invalid_exact_svm_payload_signature_invalid',
  'invalid_exact_svm_payload_amount_mismatch',
  'invalid_exact_svm_payload_mint_mismatch',
  'invalid_exact_svm_payload_recipient_mismatch',
  'invalid_exact_svm_payload_no_transfer_instruction',
  'invalid_exact_svm_payload_transaction_instructions_length',
  'invalid_exact_svm_unsupported_scheme',
  'invalid_network',
  'invalid_payload',
  'invalid_payment_requirements',
  'invalid_scheme',
  'invalid_x402_version',
  'unsupported_scheme',
  'unsupported_payload_type',
]);
