import type { JsonObject } from '../../schema/canonical-json.ts';

const header = (description: string): JsonObject => ({ schema: { type: 'string' }, description });

const settlement: JsonObject = {
  'PAYMENT-RESPONSE': header('How a version 2 payment settled, base64 JSON.'),
  'X-PAYMENT-RESPONSE': header('The same for version 1.'),
  'x-svc-request-salt': header('With it the payer can prove which request the payment was bound to.'),
  'x-svc-settlement-status': header(
    '`settled`; `idempotent_replay` where the same payment or Idempotency-Key had brought this before, `waived` where a key stood in for one.',
  ),
};

/** What of a receipt also travels in headers; a stream's go out before there is a receipt, without what only that knows. */
const receipt: JsonObject = {
  'x-svc-task-id': header('Names the call, its receipt and its row.'),
  'x-svc-vendor-blind': header('`true` where whoever answered learned nothing of who asked.'),
  'x-svc-verify-url': header('Where the receipt is, or will be.'),
  'x-svc-payment-ref': header('`base:0x<transaction hash>` or `solana:<signature>`.'),
  'x-svc-proof-outcome': header('`settled`, `pending`, `unverified`, or `none` where nothing was paid.'),
  'x-svc-model': header('The model that answered, percent-encoded where no header can carry its name.'),
  'x-svc-hub': header('The hub that answered.'),
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
      '`false` where whoever signed another payment for this request could pay twice; OpenAI’s clients honour it.',
    ),
  },
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
      'How many rows this answer has. With `evidence` it is what matched when the answer began: a row may move on meanwhile.',
    ),
    'x-svc-export-last-seq': header(
      'The seq of the last row that was looked at; with `after` the next export begins behind it.',
    ),
  },
  extent: {
    'X-SVC-Truncated': header('`true` where rows that match are not in this answer, else `false`.'),
    'X-SVC-Matching-Count': header(
      'How many rows match, in this answer or not. Absent where too many rows would have to be read to say it.',
    ),
    Link: header('`rel="next"`: the page of the next older rows (RFC 8288). Absent where no older row matches.'),
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
