import { GraphQLError } from 'graphql';
import type { JsonObject } from './canonical-json.ts';

/**
 * What an answer leaves of the payment that came with its request, where it leaves it anything but unused:
 * - `open`: what became of it is not known yet, and the same one is to be sent again;
 * - `doubtful`: likewise, unless `charged: false` stands beside it;
 * - `spent`: it has bought something, or is somebody's already.
 * A client that signs another one for the same request, as x402's does whenever it is made to retry, may pay twice.
 */
type Leaves = 'open' | 'doubtful' | 'spent';

type ErrorRow = readonly [status: number, sentence: string, leaves?: Leaves];

/** Every refusal that a caller can meet: stable code → HTTP status, the public sentence, and what it leaves of a payment. */
export const errors = {
  invalid_request: [400, 'The request is not valid.'],
  invalid_payment: [400, 'The payment header could not be read.'],
  invalid_wallet: [400, 'agentWallet is not an address.'],
  invalid_proof: [400, 'proof is not the HMAC of this window by a session of this wallet.'],
  delegation_invalid: [400, 'The grant sent with the payment or API key is not accepted.'],
  payload_mismatch: [400, 'payload_hash is not that of the payload.'],
  revocation_invalid: [400, 'That is no revocation by a payer of this session, or it was not signed just now.'],
  book_not_named: [400, 'Several sessions came along: name by X-SVC-Agent the book that this call is for.'],
  query_too_costly: [400, 'The query asks for more than one request may.'],
  invalid_policy: [400, 'The policy type or its value is not valid.'],
  invalid_escrow_action: [400, 'That is no action of this escrow now, by this party; `legal` names those that are.'],
  escrow_claim_required: [400, 'To claw this escrow back before it ends wants a claim_type.'],
  escrow_amount_mismatch: [400, 'The amount is not what was collected for that task.'],
  escrow_not_collected: [400, 'The payment of that task was not collected, or is less than the escrow.'],
  escrow_checks_failed: [400, 'A check of the escrow failed; `checks` lists each of them.'],
  transfer_not_believed: [
    400,
    'The chain does not show that payment as it was described; `reason` says what differs. If it is `ambiguous`, `transfer_indexes` lists the transfers that match: send one of them as `transfer_index`. Nothing was charged.',
  ],
  payer_signature_invalid: [
    400,
    'payer_signature does not prove the payer of that payment, or its time is outside the window. Nothing was charged.',
  ],
  offer_receipt_invalid: [
    400,
    'offer_receipt does not prove that whoever was paid has signed for that payment and resource; `reason` says in what. Nothing was charged.',
  ],
  output_mismatch: [400, 'The SHA-256 of the output is not the one that was delivered.'],
  payout_not_proven: [
    400,
    'payout.signature does not prove that address, or its time is outside the window. Nothing was charged.',
  ],
  unknown_model: [400, 'No such model is offered.'],
  hub_rejected_request: [
    400,
    'The model hub refused this request as invalid. Change the request before you send it again.',
  ],
  control_proof_missing: [401, 'wallet_signature and signature_timestamp are required.'],
  token_required: [401, 'A slice token is required.'],
  control_proof_invalid: [
    401,
    'The wallet signature does not prove control of this wallet, or its time is outside the window.',
  ],
  act_signature_invalid: [401, 'The signature of the act is not that of the key of this session.'],
  act_expired: [401, 'The act is outside of its time, or its challenge was not issued here for this session.'],
  unauthenticated: [401, 'Proof of possession is required.'],
  router_key_invalid: [401, 'The router refused the key that was sent as X-Router-Key.'],
  payment_required: [402, 'Payment is required.'],
  payment_rejected: [402, 'This payment cannot be accepted.'],
  unknown_api_key: [402, 'The API key that was sent is not known here. Pay as offered, or send another key.'],
  forbidden: [403, 'The proof of possession does not open this book.'],
  policy_blocked: [403, 'A policy of the book refuses this call. Nothing was charged.'],
  approval_ttl_expired: [
    403,
    'The book requires a fresh approval of this call, or a fresh signed challenge of this act. Nothing was charged.',
  ],
  budget_exhausted: [403, 'The budget of the book does not cover this call. Nothing was charged.'],
  session_not_active: [403, 'The session is not active: `session_status` says why. Nothing was charged.'],
  session_cap_exceeded: [
    403,
    'The cap of the session, or of one over it, does not cover this call. Nothing was charged.',
  ],
  kill_switch_resend: [
    403,
    'The payment has moved and its receipt stands, but the kill switch of the book is on, so no work is done for it. Send the same payment again when the switch is off.',
    'spent',
  ],
  grant_exceeded: [403, 'The grant does not allow this endpoint or model. Nothing was charged.'],
  parent_not_on_book: [403, 'The parent is no row of the book that this call lands on. Nothing was charged.'],
  payer_mismatch: [403, 'The payment comes from another wallet than the one that the request names.'],
  receipt_not_qualifying: [
    403,
    'This receipt does not qualify: no payment has been collected for it, or its payer and payee are the same party.',
  ],
  receipt_not_on_book: [403, "That receipt is of no row of the author's own book."],
  receipt_host_differs: [403, 'That receipt is of another host than the endpoint names.'],
  not_a_party: [
    403,
    'Only another party may make this request: the session or signature that was sent is not that of the required agent or payer.',
  ],
  task_not_on_book: [403, 'The book has no row with that task_id.'],
  not_author: [403, 'Only its author may do that.'],
  inflow_claim_invalid: [
    403,
    "The claim is not signed by the wallet of the book's agent, or says otherwise than the request.",
  ],
  token_invalid: [403, 'The slice token is not known, has expired or was revoked.'],
  slice_exceeded: [403, 'The token records within its slice alone, and this would lie outside of it.'],
  hub_rejected_content: [
    403,
    'The model hub refused the content of this request. Change the request before you send it again.',
  ],
  router_refused: [
    403,
    'The router refused this request for the account of the key that was sent as X-Router-Key: `hub_status` is the status it answered.',
  ],
  not_found: [404, 'There is nothing here.'],
  not_offered: [
    404,
    'This service does not have that endpoint; `instead` names the one to use in its place, null if there is none.',
  ],
  inflow_not_found: [404, 'inflow row not found'],
  escrow_not_found: [404, 'escrow not found'],
  job_not_found: [404, 'job not found'],
  bid_not_found: [404, 'bid not found'],
  model_not_found: [404, 'No model of that id is offered here.'],
  method_not_allowed: [405, 'This endpoint does not accept that method.'],
  not_acceptable: [
    406,
    'The Accept header takes none of the media types that this endpoint answers in; `offered` lists them.',
  ],
  request_timeout: [408, 'The request did not arrive whole in time.'],
  payment_in_flight: [409, 'This payment is being worked on; ask again with the same payment.', 'open'],
  task_not_cancelable: [409, 'The task has come to its end, or its payment may have been sent.'],
  call_canceled: [409, 'Its buyer has canceled this call. Nothing was charged; the payment stays usable.'],
  claim_already_settled: [409, 'This payment has settled another request: a claim closes once.', 'spent'],
  payment_already_used: [409, 'This payment was made for another request.', 'spent'],
  payment_lapsed: [
    409,
    'Too many requests with this payment were refused because of the request or its router key. The payment is no longer accepted; sign another.',
  ],
  payer_proof_required: [
    409,
    'This payment was shown with other requests too often. Prove that you are its payer; do not sign another.',
    'spent',
  ],
  payment_identifier_conflict: [409, 'This payment identifier names another request of the same payer.', 'spent'],
  idempotency_key_conflict: [409, 'This Idempotency-Key names another request.', 'spent'],
  idempotency_key_in_flight: [
    409,
    'A request under this Idempotency-Key is being worked on; ask again with the same one.',
  ],
  idempotency_answer_gone: [
    409,
    'The request under this Idempotency-Key was carried out, but its response is no longer available. Read what it changed instead of sending it again.',
  ],
  act_nonce_used: [409, 'An act with this nonce was done already.'],
  approval_closed: [
    409,
    'The approval request was answered otherwise, or its time is over: `approval_status` says which.',
  ],
  already_handed_off: [409, 'That receipt was handed to that agent already.'],
  handed_off_too_often: [409, 'This receipt has already been handed off to the maximum number of agents.'],
  wallet_registered: [409, 'This wallet is registered already, or is being registered.'],
  duplicate_ref: [409, 'This payment reference stands on a book already.'],
  duplicate_task: [409, 'This task_id, or this signed claim, stands on a book already.'],
  generation_conflict: [409, 'This generation was reported to this book already, with other facts.'],
  disputes_full: [409, 'This claim of this row was filed with as many kinds of evidence as it may be.'],
  assignments_full: [409, 'The book has as many live assignments as it may. Revoke one.'],
  escrow_exists: [409, 'An escrow of that task or job stands already, opened otherwise.'],
  escrow_backing_used: [409, 'That task has backed an escrow: each backs one, for ever.'],
  escrow_fulfillment_used: [
    409,
    'That receipt has been submitted for another escrow. A receipt fulfils one escrow only.',
  ],
  escrows_full: [409, 'As many escrows are live as may be.'],
  job_already_paid: [
    409,
    'The job has been paid for by another payment or another request. `charged`: true, this payment was charged for another request; false, it is unused; null, not known yet: send the same payment again and do not sign another one.',
  ],
  job_leg_in_flight: [409, 'A payment of this job is under way, or could still be used by whoever holds it.'],
  payer_is_payee: [409, 'The payer is whom the payment is for.'],
  self_bid: [409, 'Nobody bids on a job of their own, or to be paid to the wallet of its poster.'],
  bids_used: [409, 'The bid of this agent and its one revision are used, or one of them is being paid for.'],
  bids_full: [409, 'As many agents have bid on this job as may.'],
  payout_account_missing: [409, 'The address that this bid is to be paid to has no USDC account that can be paid.'],
  job_output_differs: [
    409,
    'The delivered output has another SHA-256 than the request names; `output_sha256` is that of the delivered output. This request charged nothing.',
  ],
  output_refused: [409, 'The poster has refused the output with this SHA-256. Deliver another output.'],
  deliveries_used: [409, 'The delivered hash of this job has been replaced as often as is allowed.'],
  job_state_conflict: [409, 'The job does not stand where that may be done; `state` says where it stands.'],
  receipt_backs_another: [409, 'That receipt backs another post or confirm: each backs one, for ever.'],
  self_confirm: [409, 'Nobody confirms a report of their own.'],
  related_confirm: [409, 'The confirming agent must be neither the payer nor the payee of the reported payment.'],
  post_taken_down: [409, 'That was taken down by whoever wrote it.'],
  already_confirmed: [409, 'This agent has confirmed that report already, by another receipt.'],
  completion_conflict: [409, 'A completion of that source and id was recorded already, and said otherwise.'],
  already_flagged: [409, 'This agent has flagged that already.'],
  reconciliation_running: [409, 'A reconciliation of this agent is under way: ask for it by its `report_id`.'],
  answer_gone: [410, 'The answer is kept no longer; the receipt stands.', 'spent'],
  request_too_large: [413, 'The body is too large.'],
  hub_request_too_large: [413, 'This request is too large for the model hub.'],
  answer_too_large: [413, 'The answer would be larger than this service passes on. Ask for less at once.'],
  unsupported_media_type: [415, 'The body is not of the media type that is taken here.'],
  hub_unprocessable_request: [422, 'The model hub cannot process this request.'],
  rate_limited: [429, 'Too many requests.'],
  hub_rate_limited: [429, 'At least one model hub is at its rate limit, and no other hub answered.'],
  blocked_too_often: [
    429,
    'The book goes on refusing calls of this kind; the last signed refusal says why. Nothing was charged.',
  ],
  too_many_disbelieved: [429, 'Too many payments were named here that their chain does not show. Nothing was charged.'],
  headers_too_large: [431, 'The headers of the request are too large.'],
  internal: [500, 'Something broke here. Nothing was charged unless a receipt says so.', 'doubtful'],
  record_damaged: [
    500,
    'This record does not stand here as it was signed, so it is not shown. Ask again later.',
    'doubtful',
  ],
  hub_failed: [502, 'No model hub answered.', 'doubtful'],
  hub_broke_off: [502, 'The model hub broke off in the midst of its answer.', 'spent'],
  stream_cut_off: [503, 'This service ended the answer before it was whole.', 'spent'],
  hub_overloaded: [503, 'At least one model hub is overloaded, and no other hub answered.', 'doubtful'],
  settlement_pending: [
    503,
    'The outcome of the payment is not known yet. Send the same payment again; do not sign another one.',
    'open',
  ],
  chain_unavailable: [503, 'The chain cannot be reached. Ask again; if you paid, with the same payment.', 'doubtful'],
  facilitator_unavailable: [
    503,
    'The payment facilitator cannot be reached. Ask again; if you paid, with the same payment.',
    'doubtful',
  ],
  fee_too_high: [
    503,
    'The chain asks for more gas than this call is worth. Ask again; if you paid, with the same payment.',
    'doubtful',
  ],
  network_not_served: [503, 'Nobody is configured here who could look at that network. Nothing was charged.'],
  upload_unknown: [503, 'The file did not reach the work. Send it again; if you paid, with the same payment.'],
  book_damaged: [
    503,
    'The records of this book contradict each other: it is closed until its operator has restored them. Ask again later.',
    'doubtful',
  ],
  /** Whether something was charged is a fact beside it, where it is known: `charged: false`. */
  unavailable: [
    503,
    'The service cannot take this request now. Ask again; if you paid, with the same payment.',
    'doubtful',
  ],
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errors;

/** A hub's verdict on the request, or the router's on the key that came with it: the same request again has the same outcome. */
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

/** What sentences say of money, and is not so where a payment was charged or may have been. */
const UNCHARGED = / Nothing was charged(?:; the payment stays usable| unless a receipt says so)?\./g;

const CHARGED = ' The payment that came with this request was charged before.';
const UNKNOWN = ' Whether the payment that came with this request was charged is not known yet.';

/** A sentence as it may stand beside `charged`, the fact: the one place that keeps the two from contradicting each other. */
export function sayingCharged(sentence: string, charged: unknown): string {
  return charged === true || charged === null ? sentence.replace(UNCHARGED, '') : sentence;
}

/** What a refusal leaves of a payment; `charged` is the fact beside it (null: not known yet), `pays` whether one came along at all. */
export function leaves(code: ErrorCode, charged: unknown, pays: boolean): 'unused' | 'open' | 'spent' {
  if (charged === true) return 'spent';
  // Said of a payment that may be under way elsewhere, whatever is wrong with the request.
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
    super(sayingCharged(options.detail ?? sentence, options.facts?.charged), {
      extensions: { code, status, ...(options.param ? { param: options.param } : {}), ...options.facts },
      ...(options.cause instanceof Error ? { originalError: options.cause } : {}),
    });
    this.name = 'Refusal';
    this.code = code;
    this.status = status;
  }
}

/** The same refusal with `charged` beside it, and in words where that is not false. */
export function withCharged(
  { code, message, extensions, originalError: cause }: Refusal,
  charged: boolean | null,
): Refusal {
  const { code: _code, status: _status, param, ...facts } = extensions;
  const said = charged === null ? UNKNOWN : charged ? CHARGED : '';
  return new Refusal(code, {
    detail: sayingCharged(message, charged) + said,
    ...(typeof param === 'string' && { param }),
    facts: { ...facts, charged },
    cause,
  });
}
