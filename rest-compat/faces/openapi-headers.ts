import type { JsonObject } from '../../schema/canonical-json.ts';

const header = (description: string): JsonObject => ({ schema: { type: 'string' }, description });

const settlement: JsonObject = {
  'PAYMENT-RESPONSE': header('How a version 2 payment settled, base64 JSON.'),
  'X-PAYMENT-RESPONSE': header('The same for version 1.'),
  'x-svc-request-salt': header('With it the payer can prove which request the payment was bound to.'),
  'x-svc-settlement-status': header(
    '`settled`; `idempotent_replay` if the same payment or Idempotency-Key came before: this is its answer once more, or with `x-svc-rerun` the new answer of a rerun, and nothing else was charged; `waived` if a key stood in for a payment.',
  ),
};

/** What of a receipt also travels in headers; a stream's go out before there is a receipt, without what only that knows. */
const receipt: JsonObject = {
  'x-svc-task-id': header('Names the call, its receipt and its row.'),
  'x-svc-vendor-blind': header(
    '`true` or absent. The issuer added nothing that says who asks. What the caller wrote for the model was put into the form that the hub takes; members without effect (listed in the documentation) were left out. Text of the caller that names the caller reached the hub.',
  ),
  'x-svc-rerun': header(
    'Number, from 1, of the rerun that made this answer, where an earlier answer of this payment was not whole. Absent otherwise.',
  ),
  'x-svc-verify-url': header('Where the receipt is, or will be.'),
  'x-svc-payment-ref': header('`base:0x<transaction hash>` or `solana:<signature>`.'),
  'x-svc-proof-outcome': header('`settled`, `pending`, `unverified`, or `none` where nothing was paid.'),
  'x-svc-model': header(
    'Model that the hub was asked for, percent-encoded where no header can carry its name. See x-svc-answered-model.',
  ),
  'x-svc-hub': header(
    'Hub that gave this answer. With `x-svc-rerun` it is the hub of that rerun (`answered_again.hub` once the rerun is whole); `svc.hub` is signed and stays that of the first attempt. The same holds for `x-svc-model` and `x-svc-answered-model`.',
  ),
  'x-svc-answered-model': header(
    'The model that the hub named in its answer, percent-encoded where no header can carry its name. Left out if it named none; of a stream it is in the receipt alone.',
  ),
  'x-svc-amount': header('Atomic USDC.'),
  'x-svc-payload-hash': header('SHA-256 of the canonical payload, hex.'),
};

/** draft-ietf-httpapi-ratelimit-headers-10. */
const rate: JsonObject = {
  'RateLimit-Policy': header('The quota of this address and its window in seconds, by name.'),
  RateLimit: header('What is left of it, and the seconds until all of it is.'),
};

/** Headers that answers bring along, as constants: what sets them lies behind the graph. */
export const answerHeaders = {
  settled: settlement,
  receipt,
  fault: { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds; where asking again may help.' } },
  paidFault: {
    ...settlement,
    'PAYMENT-RESPONSE': header(
      'Of version 2, base64 JSON. Where the outcome is not known yet: `success: false`, `errorReason: settlement_pending`, the payer, and the transaction if one was sent. Send the same payment again.',
    ),
    'x-should-retry': header(
      '`false` if the client must not repeat the request by itself: another payment could be charged as well, or the same request would be refused again. `charged` says whether this payment was charged. OpenAI’s clients honour it.',
    ),
  },
  doneOnce: {
    'x-svc-settlement-status': header(
      '`idempotent_replay` if this is the response to an earlier request with the same Idempotency-Key. Absent otherwise.',
    ),
  },
  foreignKey: { 'x-should-retry': header('`false` where the same request again has the same outcome.') },
  rate,
  refusal: { 'x-svc-refusal-url': header('The signed refusal, also after this answer.') },
  refusedBefore: {
    'x-svc-last-refusal-url': header(
      'With `blocked_too_often`: the last signed refusal of such a call, not of this one.',
    ),
  },
  challenge: { 'PAYMENT-REQUIRED': header('The offer of version 2, base64 JSON.') },
  inPieces: {
    'x-svc-export-rows': header(
      'Number of rows in this response. With `evidence`, the number that matched when the response began; the rows sent may differ if the evidence of a row changes meanwhile.',
    ),
    'x-svc-export-last-seq': header('seq of the last row examined. Pass it as `after` to continue from there.'),
  },
  extent: {
    'X-SVC-Truncated': header('`true` if some matching rows are not in this response, otherwise `false`.'),
    'X-SVC-Matching-Count': header(
      'Number of rows that match the filter, including rows that are not in this response. Absent if the number was not determined.',
    ),
    Link: header(
      '`rel="next"`: URL of the page of next older rows (RFC 8288). Absent if there are no older matching rows, and on published exports.',
    ),
  },
  /** RFC 9110 8.8.3 and RFC 9111 5.2, of documents that change seldom. */
  kept: {
    ETag: header('Names what the document says, whichever way it is encoded; by If-None-Match it is asked for again.'),
    'Cache-Control': header('For how long it may be kept.'),
  },
  a2a: {
    'A2A-Extensions': header('The extension of A2A 1.0 that is active for this answer.'),
    'X-A2A-Extensions': header('The same for clients that asked by that name, as those of 0.3 do.'),
  },
  mcp: { 'Mcp-Session-Id': header('Of /mcp: what a client that began with a handshake sends from then on.') },
  named: {
    'x-request-id': header("Names the request in the service's log; the caller's own, where that is a UUID or ULID."),
  },
} as const satisfies Record<string, JsonObject>;

/** Every page may read it, wherever it comes from (Fetch, CORS-safelisted response-header name). */
const SAFELISTED = 'Cache-Control';

/** All of them by name, for Access-Control-Expose-Headers. */
export const exposed = [...new Set(Object.values(answerHeaders).flatMap(group => Object.keys(group)))]
  .filter(name => name !== SAFELISTED)
  .join(', ');
