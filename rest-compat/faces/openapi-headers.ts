import type { JsonObject } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';

const header = (description: string): JsonObject => ({ schema: { type: 'string' }, description });

const settlement = {
  'PAYMENT-RESPONSE': header(
    'Settlement of the payment, as base64 JSON. Absent unless the payment was by x402 version 2.',
  ),
  'X-PAYMENT-RESPONSE': header(
    'Settlement of the payment, as base64 JSON. Absent unless the payment was by x402 version 1.',
  ),
  'x-svc-request-salt': header(
    'Salt (32 hex digits) of `request_hash` in the receipt: with it, the payer can prove what was requested.',
  ),
  'x-svc-settlement-status': header(
    '`settled`: paid by this request. `idempotent_replay`: the payment or Idempotency-Key was used before; this is the earlier answer or, with `x-svc-rerun`, the new answer of a rerun, and nothing more was charged. `waived`: an API key was used in place of a payment.',
  ),
};

/** Facts of a receipt. A stream sends its headers before the receipt exists, without the facts that only the receipt has. */
const receipt = {
  'x-svc-task-id': header('Id of the call and of its receipt; also of its row, if it is on a book.'),
  'x-svc-vendor-blind': header(
    '`true`: this service added nothing that identifies the caller, and put the request into the form that the hub accepts, without members that have no effect. Text in which the caller names itself still reached the hub. Promised only to callers that prove possession of a book: absent for others, with a demo key, for a model of the router, and for a stream that is sent again.',
  ),
  'x-svc-rerun': header(
    'Number of the rerun that made this answer, from 1, if an earlier answer to this payment was incomplete. Absent otherwise.',
  ),
  'x-svc-verify-url': header('URL of the public page of the receipt. The receipt may not exist yet.'),
  'x-svc-payment-ref': header(
    'Transaction of the payment: `base:0x<transaction hash>` or `solana:<signature>`. Absent if an API key replaced the payment.',
  ),
  'x-svc-proof-outcome': header(
    'What is known of the payment. `settled`: its transfer was seen. `pending`: its transfer was not seen yet. `unverified`: its transfer was not found in time. `none`: nothing was paid. Absent for a stream.',
  ),
  'x-svc-model': header(
    `Model that was requested from the hub, percent-encoded if needed. Absent if that is longer than ${limits.named_header_bytes_max} characters. The hub may name another one: see x-svc-answered-model.`,
  ),
  'x-svc-hub': header(
    'Hub that gave this answer. With `x-svc-rerun` it is the hub of the rerun (`answered_again.hub` when the rerun is complete), while the signed `svc.hub` stays that of the first attempt. The same holds for `x-svc-model` and `x-svc-answered-model`.',
  ),
  'x-svc-answered-model': header(
    `Model that the hub named in its answer, percent-encoded if needed. Absent if it named none, or if that is longer than ${limits.named_header_bytes_max} characters; absent for a stream, whose receipt has it.`,
  ),
  'x-svc-amount': header('Amount that was paid, in atomic USDC. Absent if an API key replaced the payment.'),
  'x-svc-payload-hash': header('SHA-256 of the canonical payload of the receipt, in hex. Absent for a stream.'),
};

/** draft-ietf-httpapi-ratelimit-headers-10. */
const rate = {
  'RateLimit-Policy': header(
    'Limits by name: at most `q` requests within `w` seconds. `free` counts the free requests of the client address. With `qu="content-bytes"`: at most `q` bytes of request bodies at a time.',
  ),
  RateLimit: header(
    'State of the limits by name: `r` requests (bytes for `bodies`) are left. If `t` is given, the whole quota is restored in `t` seconds.',
  ),
};

/** Headers of responses. Constants, because the code that sets them is on the other side of the graph. */
export const answerHeaders = {
  settled: settlement,
  receipt,
  fault: {
    'Retry-After': {
      schema: { type: 'integer' },
      description: 'Seconds to wait before the request is sent again. Absent if the service names no time.',
    },
  },
  paidFault: {
    ...settlement,
    'PAYMENT-RESPONSE': header(
      'Settlement of the payment (x402 version 2), as base64 JSON. If the outcome is not known yet: `success: false`, `errorReason: settlement_pending`, the payer, and the transaction if one was sent; send the same payment again. Absent if there is no settlement to report.',
    ),
    'X-PAYMENT-RESPONSE': header('The same as PAYMENT-RESPONSE, for a payment by x402 version 1.'),
    'x-should-retry': header(
      '`false` if the client must not retry automatically: another payment could be charged as well, or the same request would be refused again. Absent otherwise. `charged` in the body, if present, says whether this payment was charged. OpenAI’s clients honour this header.',
    ),
  },
  doneOnce: {
    'x-svc-settlement-status': header(
      '`idempotent_replay` if this is the response to an earlier request with the same Idempotency-Key. Absent otherwise.',
    ),
  },
  foreignKey: {
    'x-should-retry': header(
      '`false` for `idempotency_key_conflict`: the same request with this key would be refused again. Absent otherwise.',
    ),
  },
  rate,
  refusal: {
    'x-svc-refusal-url': header('URL of the signed refusal, if a rule of the book refused the call. Absent otherwise.'),
  },
  refusedBefore: {
    'x-svc-last-refusal-url': header('With `blocked_too_often`: URL of the last signed refusal of such a call.'),
  },
  challenge: { 'PAYMENT-REQUIRED': header('Payment offer (x402 version 2), as base64 JSON.') },
  inPieces: {
    'x-svc-export-rows': header(
      'Number of rows that this response covers; a journal may have more or fewer entries. With `evidence`, the number that matched when the response began; the rows sent may differ if the evidence of a row changes meanwhile.',
    ),
    'x-svc-export-last-seq': header(
      '`seq` of the last row of the book that the response covers. On the export stream, `after` with this number continues behind it.',
    ),
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
  /** RFC 9110 8.8.3 and RFC 9111 5.2, for documents that change seldom. */
  kept: {
    ETag: header(
      'Version of the document, the same in every content coding. Send it as If-None-Match to get 304 while it is current.',
    ),
    'Cache-Control': header('How long the response may be cached, such as `public, max-age=60`.'),
  },
  a2a: {
    'A2A-Extensions': header(
      'URI of the A2A extension that is active for this response. Absent unless the request named a supported one in this header.',
    ),
    'X-A2A-Extensions': header(
      'The same as A2A-Extensions, for a request that named the extension in X-A2A-Extensions (A2A 0.3).',
    ),
  },
  mcp: { 'Mcp-Session-Id': header('Session of /mcp, which a client sends with each request after the handshake.') },
  named: {
    'x-request-id': header(
      "Id of the request in the service's log. It is the caller's own x-request-id if that is a UUID or ULID.",
    ),
  },
} as const satisfies Record<string, Record<string, JsonObject>>;

/** The names of the headers as components: `x-should-retry`, and `x-should-retry.foreignKey` where that means something else. */
export const headerNames: ReadonlyMap<JsonObject, string> = namesOf(answerHeaders);

function namesOf(groups: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>): Map<JsonObject, string> {
  const names = new Map<JsonObject, string>();
  const taken = new Set<string>();
  for (const [group, headers] of Object.entries(groups))
    for (const [name, header] of Object.entries(headers)) {
      if (names.has(header)) continue;
      names.set(header, taken.has(name) ? `${name}.${group}` : name);
      taken.add(name);
    }
  return names;
}

/** A page of any origin may read it (Fetch, CORS-safelisted response-header name). */
const SAFELISTED = 'Cache-Control';

/** The names of all headers, for Access-Control-Expose-Headers. */
export const exposedHeaders = [...new Set(Object.values(answerHeaders).flatMap(group => Object.keys(group)))]
  .filter(name => name !== SAFELISTED)
  .join(', ');
