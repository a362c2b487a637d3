import { GraphQLError } from 'graphql';
import type { JsonObject } from './canonical-json.ts';

/** Every refusal that a caller can meet: stable code → HTTP status and the public sentence. */
export const errors = {
  invalid_request: [400, 'The request is not valid.'],
  invalid_payment: [400, 'The payment header could not be read.'],
  invalid_wallet: [400, 'agentWallet is not an address.'],
  unknown_model: [400, 'No such model is offered.'],
  control_proof_missing: [401, 'wallet_signature and signature_timestamp are required.'],
  control_proof_invalid: [
    401,
    'The wallet signature does not prove control of this wallet, or its time is outside the window.',
  ],
  unauthenticated: [401, 'Proof of possession is required.'],
  payment_required: [402, 'Payment is required.'],
  payment_rejected: [402, 'This payment cannot be accepted.'],
  forbidden: [403, 'The proof of possession does not open this book.'],
  payer_mismatch: [403, 'The payment comes from another wallet than the one to be registered.'],
  receipt_not_qualifying: [403, 'That receipt does not qualify: no registration stands under it.'],
  not_found: [404, 'There is nothing here.'],
  method_not_allowed: [405, 'This door does not take that method.'],
  payment_in_flight: [409, 'This payment is being worked on; ask again with the same payment.'],
  payment_already_used: [409, 'This payment was made for another request.'],
  wallet_registered: [409, 'This wallet is registered already.'],
  duplicate_ref: [409, 'This payment reference stands on a book already.'],
  answer_gone: [410, 'The answer is kept no longer; the receipt stands.'],
  request_too_large: [413, 'The body is too large.'],
  unsupported_media_type: [415, 'The body must be application/json.'],
  rate_limited: [429, 'Too many requests.'],
  internal: [500, 'Something broke here. Nothing was charged unless a receipt says so.'],
  hub_failed: [502, 'No model hub answered. Nothing was charged.'],
  settlement_pending: [
    503,
    'The outcome of the payment is not known yet. Do not sign another; send the same one again.',
  ],
  chain_unavailable: [503, 'The chain cannot be reached. Nothing was charged; the payment stays usable.'],
  fee_too_high: [
    503,
    'The chain asks for more gas than this call is worth. Nothing was charged; the payment stays usable.',
  ],
  unavailable: [503, 'The service cannot take this request now. Nothing was charged.'],
} as const satisfies Record<string, readonly [status: number, sentence: string]>;

export type ErrorCode = keyof typeof errors;

/**
 * The one error that crosses a boundary. `detail` is public; the cause goes to the log alone.
 * A GraphQLError, so that graphql-js, Apollo and the REST doors carry it without translation.
 */
export class Refusal extends GraphQLError {
  readonly code: ErrorCode;
  readonly status: number;

  constructor(code: ErrorCode, options: { detail?: string; param?: string; facts?: JsonObject; cause?: unknown } = {}) {
    const [status, sentence] = errors[code];
    super(options.detail ?? sentence, {
      extensions: { code, status, ...(options.param ? { param: options.param } : {}), ...options.facts },
      ...(options.cause instanceof Error ? { originalError: options.cause } : {}),
    });
    this.name = 'Refusal';
    this.code = code;
    this.status = status;
  }
}
