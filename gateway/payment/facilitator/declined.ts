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
  'invalid_network',
  'invalid_payload',
  'invalid_payment_requirements',
  'invalid_scheme',
  'invalid_x402_version',
  'unsupported_scheme',
  'unsupported_payload_type',
]);
