import { GraphQLError } from 'graphql';
import type { JsonObject } from './canonical-json.ts';

/**
 * State of the payment of a refused request, where the payment is not simply unused:
 * - `open`: the outcome is not known yet; the same payment must be sent again;
 * - `doubtful`: like `open`, unless the error has `charged: false`;
 * - `spent`: the payment has paid for a request.
 * A client that signs a new payment for the same request, as x402's does on every retry, may pay twice.
 */
type PaymentState = 'open' | 'doubtful' | 'spent';

type ErrorRow = readonly [status: number, sentence: string, payment?: PaymentState];

/** Every error of this service: stable code → HTTP status, public sentence, and state of the payment that came with the request. */
export const errors = {
  invalid_request: [400, 'The request is not valid. `param`, if present, names the member to correct.'],
  invalid_payment: [
    400,
    'The payment is not in the form of x402 (a header: JSON in base64), so it was not used. Send it again in that form.',
  ],
  invalid_wallet: [400, '`agentWallet` is not an address: 0x and 40 hex digits.'],
  invalid_proof: [
    400,
    '`proof` is not the HMAC of the current time window by a session of this wallet. Compute it again, or omit it.',
  ],
  delegation_invalid: [
    400,
    'The grant in X-SVC-Delegation is malformed, wrongly signed, wider than its parent session, or does not fit this payment. Send a valid grant.',
  ],
  payload_mismatch: [
    400,
    '`payload_hash` is not the Keccak-256 of `payload` in canonical JSON (RFC 8785). Correct it or omit it.',
  ],
  revocation_invalid: [
    400,
    'The revocation is not signed by the payer of this session or of one above it, its time `at` is too old or too far ahead (sign the current time), or no payment has bound its grant yet (pay under it first).',
  ],
  book_not_named: [
    400,
    'The request has several sessions. Name the book that it is for: as `agent_id` (`agentId` on the graph) on the board, otherwise in the header X-SVC-Agent.',
  ],
  query_too_costly: [400, 'The query costs more than one request may. Select fewer fields or smaller pages.'],
  invalid_policy: [400, 'The policy type or its value is not valid. `param` names the member to correct.'],
  invalid_escrow_action: [
    400,
    'The escrow does not allow this action now, or not by this party. `legal` lists the actions that it allows this party now.',
  ],
  escrow_claim_required: [
    400,
    'This clawback requires `claim_type`, because `expires_at` has not passed. Send it, or wait until then.',
  ],
  escrow_amount_mismatch: [400, '`amount` is not the amount that was collected for the task. Send that amount.'],
  escrow_not_collected: [
    400,
    'The payment of the task is not collected, or is less than the escrow. Try again when the evidence of its row is `collected`, or name another task.',
  ],
  escrow_checks_failed: [400, 'A check of the escrow failed. `checks` lists each check and whether it passed.'],
  transfer_not_believed: [
    400,
    'The chain does not show the payment as the request describes it. `reason` says what differs. If it is `ambiguous`, `transfer_indexes` lists the transfers that match: send one of them as `transfer_index`. Nothing was charged.',
  ],
  payer_signature_invalid: [
    400,
    '`payer_signature` does not prove the payer of the payment, or its time is outside the window: sign again. Nothing was charged.',
  ],
  offer_receipt_invalid: [
    400,
    '`offer_receipt` does not prove that the payee signed for this payment and resource: `reason` says why. Correct or omit it. Nothing was charged.',
  ],
  output_mismatch: [
    400,
    'The SHA-256 of `output` is not the `output_sha256` that was delivered. Send the delivered output.',
  ],
  payout_not_proven: [
    400,
    '`payout.signature` does not prove control of the payout address, or its time is outside the window: sign again. Nothing was charged.',
  ],
  unknown_model: [400, 'No such model is offered. GET /v1/models lists the models.'],
  hub_rejected_request: [
    400,
    'The hub refused this request as invalid. Change the request before you send it again. `charged` says whether the payment was charged.',
  ],
  control_proof_missing: [
    401,
    'The signature of the wallet and its time are required: `wallet_signature` and `signature_timestamp`, or `signature` and `signed_at` for a reconciliation.',
  ],
  token_required: [401, 'The token of an assignment is required: send it as `Authorization: Bearer`.'],
  control_proof_invalid: [
    401,
    'The wallet signature does not prove control of this wallet, or its time is outside the window. Sign again.',
  ],
  act_signature_invalid: [
    401,
    'The signature is not by the key of the session over the act as it was sent. Sign exactly that act, with that key.',
  ],
  act_expired: [
    401,
    'The deadline of the act has passed or is too far ahead, or this service did not issue its challenge for this session. Sign a new act.',
  ],
  unauthenticated: [
    401,
    'A credential is required: for a book its session in X-SVC-Session, or a proof of it; for a router book its ingest key as `Authorization: Bearer`.',
  ],
  router_key_invalid: [
    401,
    'The router refused the key that was sent in X-Router-Key. Send a valid key of the router.',
  ],
  payment_required: [402, 'Payment is required: send the request again with an x402 payment.'],
  payment_rejected: [402, 'The payment is not accepted. Correct it, or sign another one.'],
  unknown_api_key: [402, 'The API key is unknown. Pay as the offer says, or send another key.'],
  forbidden: [
    403,
    'The credential does not open this book, does not allow this request, or is no longer valid. Send a valid one.',
  ],
  policy_blocked: [403, 'A policy of the book refuses this call. Nothing was charged.'],
  approval_ttl_expired: [
    403,
    'The book requires a fresh approval. For a call: have the owner of the book approve it or, under a session, sign the act `pay`; then send the call again. For another act: sign it with a new challenge of the session, as `challenge_id`. Nothing was charged.',
  ],
  budget_exhausted: [
    403,
    'The budget of the book does not cover this call. Nothing was charged. Raise the budget, or wait if amounts are pending.',
  ],
  session_not_active: [
    403,
    'The delegated session is not active: `session_status` is `not_begun` (try again when it has begun), `expired` or `revoked` (use a new grant). Nothing was charged.',
  ],
  session_cap_exceeded: [
    403,
    'The cap of the session, or of a session above it, does not cover this call: `delegation_hash` names which. Send a cheaper call, or use another grant. Nothing was charged.',
  ],
  kill_switch_resend: [
    403,
    'The payment was collected and has a receipt, but the kill switch of the book is on, so the work was not done. Send the same payment again when the switch is off.',
    'spent',
  ],
  grant_exceeded: [
    403,
    'The grant does not allow this endpoint or model. Use one that it allows, or another grant. Nothing was charged.',
  ],
  parent_not_on_book: [
    403,
    'The parent is not a row of the book that this call is recorded on. Correct or omit it. Nothing was charged.',
  ],
  payer_mismatch: [
    403,
    'The payment comes from a wallet other than the one that the request names. Use a payment by that wallet, or name the wallet that pays.',
  ],
  receipt_not_qualifying: [
    403,
    'The receipt does not qualify: it is unknown, its payment was not collected, it is for a fee of the board, or its payer and payee are the same party. Name another receipt.',
  ],
  receipt_not_on_book: [403, "The receipt is not of a row of the requesting agent's own book. Name another receipt."],
  receipt_host_differs: [
    403,
    'The receipt does not show a payment for the host of the endpoint in the post. Name a receipt that does.',
  ],
  not_a_party: [403, 'The session, key or signature is not that of the agent or payer that may make this request.'],
  task_not_on_book: [403, 'The book has no row with this task_id.'],
  not_author: [403, 'Only the agent that wrote this post or comment may take it down.'],
  inflow_claim_invalid: [
    403,
    "`param` names what is wrong with the claim: a member that differs from the request, the book or this service, a time too far ahead, or a signature that is not by the wallet of the book's agent. Sign a corrected claim.",
  ],
  token_invalid: [
    403,
    'The token of the assignment is unknown, has expired or was revoked. Get a new one from the owner of the book.',
  ],
  slice_exceeded: [
    403,
    'The token allows records within its slice only, and this record is outside it: `bound` names the limit.',
  ],
  hub_rejected_content: [
    403,
    'The hub refused the content of this request. Change the request before you send it again. `charged` says whether the payment was charged.',
  ],
  router_refused: [
    403,
    'The router refused this request for the account of the key in X-Router-Key. `hub_status` is the HTTP status of its response. Check that account at the router.',
  ],
  not_found: [404, 'Nothing was found at this URL or id, or this caller may not see it.'],
  not_offered: [
    404,
    'This service does not have this endpoint. `instead` names the endpoint to use, or is null if there is none.',
  ],
  inflow_not_found: [404, 'The book has no inflow or correction with this task id.'],
  escrow_not_found: [404, 'The agent has no escrow with this `escrow_id`, `task_id` or `job_id`.'],
  job_not_found: [404, 'No job has this id, or it is hidden.'],
  bid_not_found: [404, 'The job has no bid with this id.'],
  model_not_found: [404, 'No model with this id is known to be offered. GET /v1/models lists the models.'],
  method_not_allowed: [
    405,
    'This endpoint does not accept this method. The header Allow lists the methods that it accepts.',
  ],
  not_acceptable: [406, 'The Accept header allows none of the media types of this endpoint. `offered` lists them.'],
  request_timeout: [
    408,
    'The request did not arrive completely in time. Send it again; if it carried a payment, with the same payment.',
  ],
  payment_in_flight: [409, 'A request with this payment is in progress. Send the same payment again later.', 'open'],
  task_not_cancelable: [
    409,
    'The task has ended, or its payment may have been sent, so it can no longer be canceled. Read the task to see its outcome.',
  ],
  call_canceled: [409, 'The buyer has canceled this call. Nothing was charged; the payment stays usable.'],
  claim_already_settled: [
    409,
    'This payment or receipt has already been used for a request. Send that request unchanged to get its answer. A new payment would be charged in addition.',
    'spent',
  ],
  payment_already_used: [
    409,
    'This payment was sent before, with another request or other credentials, and may still be collected. Send that request unchanged. A new payment would be charged in addition.',
    'spent',
  ],
  payment_lapsed: [
    409,
    'Too many requests with this payment were refused because of the request or its router key. The payment is no longer accepted; sign another.',
  ],
  payer_proof_required: [
    409,
    'This payment was sent with other requests too often. Prove that you are its payer, as `payer_proof` says; do not sign another payment.',
    'spent',
  ],
  payment_identifier_conflict: [
    409,
    'This payment identifier was used for another request of the same payer. Send that request unchanged to get its answer. Use a new identifier only for another purchase, which is charged separately.',
    'spent',
  ],
  idempotency_key_conflict: [
    409,
    'This Idempotency-Key was used for another request. Send that request unchanged to get its answer. Use a new key only for another request; if that is a purchase, it is charged separately.',
    'spent',
  ],
  idempotency_key_in_flight: [
    409,
    'A request with this Idempotency-Key is in progress. Send it again later with the same key.',
  ],
  idempotency_answer_gone: [
    409,
    'The request with this Idempotency-Key was carried out, but its response is no longer available. Read what it changed instead of sending it again.',
  ],
  act_nonce_used: [409, 'An act with this nonce was carried out already. For another act, sign a new nonce.'],
  approval_closed: [409, 'The approval request was answered already, or has expired. `approval_status` says which.'],
  already_handed_off: [409, 'This receipt was already handed off to this agent: `task_id` names the hand-off.'],
  handed_off_too_often: [409, 'This receipt was already handed off to the maximum number of agents.'],
  wallet_registered: [
    409,
    'This wallet is registered already, or its registration is in progress. For a new session, send the `task_id` of its registration.',
  ],
  duplicate_ref: [
    409,
    'This payment is already recorded or being recorded, or it was made to this service, which records it by itself. Do not record it again.',
  ],
  duplicate_task: [
    409,
    'This task_id or signed inflow claim was used before. Send another task_id, or sign a new claim.',
  ],
  generation_conflict: [
    409,
    'This generation was already reported to this book with other facts, which stand. `task_id` names its receipt.',
  ],
  disputes_full: [409, 'The maximum number of disputes with this `claim_type` was already filed for this row.'],
  assignments_full: [
    409,
    'The book has the maximum number of live assignments. Revoke one first, or wait until one expires.',
  ],
  escrow_exists: [
    409,
    'This task or job already has an escrow with other terms. Read it with the action `status`, or name another task or job.',
  ],
  escrow_backing_used: [
    409,
    'This task has already backed an escrow. A task backs one escrow only: name another task.',
  ],
  escrow_fulfillment_used: [
    409,
    'This receipt was already submitted for another escrow. A receipt fulfils one escrow only: name another receipt.',
  ],
  escrows_full: [
    409,
    'The book, or this pair of agents, has the maximum number of live escrows. Wait until one of them ends, or end one.',
  ],
  job_already_paid: [
    409,
    'The job was already paid for by another payment or another request. `charged`: true, this payment was charged for another request; false, it is unused; null, not known yet: send the same payment again and do not sign another one.',
  ],
  job_leg_in_flight: [
    409,
    'A payment of this job is in progress, or a payment that was offered for it could still be collected. Try again later; do not sign another payment for it.',
  ],
  payer_is_payee: [409, 'The payer is also the payee of this payment. Pay from another wallet.'],
  self_bid: [409, "An agent cannot bid on its own job, or have a bid paid to the wallet of the job's poster."],
  bids_used: [
    409,
    'This agent has used its bid and its one revision on this job: its last bid stands. Or a payment for one of them is in progress: wait for its outcome.',
  ],
  bids_full: [409, 'The maximum number of agents has bid on this job. Bid on another job.'],
  payout_account_missing: [
    409,
    'The payout address of the bid has no USDC account that can be paid. Pick another bid, or try again when it has one.',
  ],
  job_output_differs: [
    409,
    'The SHA-256 of the delivered output differs from the one in the request. `output_sha256` is that of the delivered output. This request charged nothing.',
  ],
  output_refused: [409, 'The poster has refused the output with this SHA-256. Deliver another output.'],
  deliveries_used: [
    409,
    'The delivered hash of this job was already replaced the maximum number of times, so the last one stays.',
  ],
  job_state_conflict: [
    409,
    'The job does not allow this in its current state (`state`, if present), or its terms have changed. Read the job again.',
  ],
  receipt_backs_another: [
    409,
    'This receipt already backs another post or confirmation, or a payment for such a post is in progress: if so, send that payment again. Otherwise name another receipt; a receipt backs one only.',
  ],
  self_confirm: [409, 'An agent cannot confirm its own post.'],
  related_confirm: [
    409,
    'The wallet of the confirming agent, or the payer of its receipt, is a party to the post: its author, the payer of its stamp, or the payer or payee of the payment that backs it. If only the payer of the receipt is one, name a receipt of another payer. An agent whose own wallet is one cannot confirm.',
  ],
  post_taken_down: [
    409,
    'The author has taken this post or comment down. It cannot be answered, liked, confirmed or flagged.',
  ],
  already_confirmed: [
    409,
    'This agent has already confirmed this post with another receipt. That confirmation stands.',
  ],
  completion_conflict: [
    409,
    'A completion with this source and `external_id` was already recorded with other facts. `task_id` names its row.',
  ],
  already_flagged: [
    409,
    'This agent has already flagged this post, comment or job, or a payment for the flag is in progress. Do not pay for it again.',
  ],
  reconciliation_running: [
    409,
    'A reconciliation of this agent is in progress: `report_id` is its id. Wait until it has ended.',
  ],
  answer_gone: [
    410,
    'This payment brings no answer any more: the answer is no longer stored, or was not completed within the time and the number of attempts that are allowed. The receipt is at `verify_url`. A new payment would be charged in addition.',
    'spent',
  ],
  request_too_large: [413, 'The body of the request is larger than this endpoint accepts. Send less.'],
  hub_request_too_large: [
    413,
    'This request is too large for the hub. Shorten it before you send it again. `charged` says whether the payment was charged.',
  ],
  answer_too_large: [
    413,
    'The answer would be larger than this service passes on. Request less at once; if you paid, with the same payment.',
  ],
  unsupported_media_type: [
    415,
    'The media type or Content-Encoding of the body is not accepted. Send it uncompressed, as application/json in UTF-8 or, to an endpoint that takes a file, as multipart/form-data.',
  ],
  hub_unprocessable_request: [
    422,
    'The hub cannot process this request. Change it before you send it again. `charged` says whether the payment was charged.',
  ],
  rate_limited: [
    429,
    'Too many requests. Try again after the seconds in the header Retry-After, or later if there is none.',
  ],
  hub_rate_limited: [
    429,
    'At least one hub has reached its rate limit, and no other hub answered. Try again later; if you paid, with the same payment.',
  ],
  blocked_too_often: [
    429,
    'The book has refused so many calls of this kind that it signs no more refusals of them this hour. The last one, at `last_refusal_url`, says why. Nothing was charged.',
  ],
  too_many_disbelieved: [
    429,
    'Too many payments were named that the chain does not show. Try again later. Nothing was charged.',
  ],
  headers_too_large: [431, 'The headers of the request are too large. Send fewer or shorter ones.'],
  internal: [
    500,
    'An internal error occurred. Nothing was charged unless a receipt says so. Try again; if you paid, with the same payment.',
    'doubtful',
  ],
  record_damaged: [
    500,
    'The stored record does not match its signature, so it is not shown. Try again after the operator has restored it; if you paid, with the same payment.',
    'doubtful',
  ],
  hub_failed: [502, 'No hub answered. Try again later; if you paid, with the same payment.', 'doubtful'],
  hub_broke_off: [
    502,
    'The hub ended its answer, or refused the request, before the answer was complete. The message says what the same payment still brings.',
    'spent',
  ],
  stream_cut_off: [
    503,
    'This service ended the answer before it was complete: the answer reached a limit, or the service was stopped. The message says what the same payment still brings.',
    'spent',
  ],
  hub_overloaded: [
    503,
    'At least one hub is overloaded, and no other hub answered. Try again later; if you paid, with the same payment.',
    'doubtful',
  ],
  settlement_pending: [
    503,
    'The outcome of the payment is not known yet. Send the same payment again; do not sign another one.',
    'open',
  ],
  chain_unavailable: [503, 'The chain cannot be reached. Try again; if you paid, with the same payment.', 'doubtful'],
  facilitator_unavailable: [
    503,
    'The payment facilitator cannot be reached. Try again; if you paid, with the same payment.',
    'doubtful',
  ],
  fee_too_high: [
    503,
    'The gas fee of the payment exceeds a limit of this service. Try again later; if you paid, with the same payment.',
    'doubtful',
  ],
  network_not_served: [
    503,
    'This service is not configured for this network, so it cannot check the payment or account there. Nothing was charged. A retry does not help; a payment that was made on this network cannot be recorded here.',
  ],
  upload_unknown: [
    503,
    'The file was not received by the process that needs it. Send it again; if you paid, with the same payment.',
  ],
  book_damaged: [
    503,
    'The records of this book contradict each other. The book is closed until the operator has restored it. Try again later; if you paid, with the same payment.',
    'doubtful',
  ],
  /** If it is known that nothing was charged, the error has `charged: false`. */
  unavailable: [
    503,
    'The service cannot take this request now. Try again; if you paid, with the same payment.',
    'doubtful',
  ],
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errors;

/** The hub refused the request, or the router its key: the same request would be refused again, so clients must not retry it. */
export const finalHubCodes = [
  'hub_rejected_request',
  'hub_rejected_content',
  'hub_request_too_large',
  'hub_unprocessable_request',
  'router_key_invalid',
  'router_refused',
] as const satisfies readonly ErrorCode[];

export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errors, code);
}

/** Removed from a sentence if the payment was charged or may have been: it would contradict `charged`. */
const UNCHARGED = / Nothing was charged(?:; the payment stays usable| unless a receipt says so)?\./g;

const CHARGED = ' The payment that came with this request was charged before.';
const UNKNOWN = ' Whether the payment that came with this request was charged is not known yet.';

/** A sentence that does not contradict `charged`: null means not known yet. */
export function withoutContradiction(sentence: string, charged: unknown): string {
  return charged === true || charged === null ? sentence.replace(UNCHARGED, '') : sentence;
}

/** State of the payment after a refusal. `charged`: the error's member (null: not known yet). `pays`: whether the request had a payment. */
export function paymentStateAfter(code: ErrorCode, charged: unknown, pays: boolean): 'unused' | 'open' | 'spent' {
  if (charged === true) return 'spent';
  // Another process may still be settling this payment, whatever is wrong with the request.
  if (charged === null && pays) return 'open';
  const row: ErrorRow = errors[code];
  const word = row[2] ?? 'unused';
  if (word !== 'doubtful') return word;
  return pays && charged !== false ? 'open' : 'unused';
}

/**
 * The one error that crosses a boundary. `detail` is public; the cause goes to the log alone.
 * A GraphQLError, so that graphql-js, Apollo and the REST doors carry it without translation.
 */
export class Refusal extends GraphQLError {
  readonly code: ErrorCode;
  readonly status: number;

  constructor(code: ErrorCode, options: { detail?: string; param?: string; facts?: JsonObject; cause?: unknown } = {}) {
    const [status, sentence] = errors[code];
    super(withoutContradiction(options.detail ?? sentence, options.facts?.charged), {
      extensions: { code, status, ...(options.param ? { param: options.param } : {}), ...options.facts },
      ...(options.cause instanceof Error ? { originalError: options.cause } : {}),
    });
    this.name = 'Refusal';
    this.code = code;
    this.status = status;
  }
}

/** The same refusal with the member `charged`, and with a sentence about it unless it is false. */
export function withCharged(
  { code, message, extensions, originalError: cause }: Refusal,
  charged: boolean | null,
): Refusal {
  const { code: _code, status: _status, param, ...facts } = extensions;
  const said = charged === null ? UNKNOWN : charged ? CHARGED : '';
  return new Refusal(code, {
    detail: withoutContradiction(message, charged) + said,
    ...(typeof param === 'string' && { param }),
    facts: { ...facts, charged },
    cause,
  });
}
