import type { JsonObject } from '../../schema/canonical-json.ts';
import { IDEMPOTENCY_HEADER } from '../../schema/idempotency-key.ts';
import { approvalLimits, limits, sessionLimits } from '../../schema/limits.ts';
import { NONCE_PATTERN, PROOF_PATTERN } from '../../schema/proof.ts';
import { REDELIVERY_HEADER } from '../../schema/redeliver-header.ts';
import { DELEGATION_HEADER } from '../../schema/session/delegation-header.ts';
import { NOTE_HEADER } from '../../schema/session/note-header.ts';
import { textForm } from '../../schema/signed-words.ts';
import { answerHeaders } from './openapi-headers.ts';

/** Read for `router/*` models, by what puts questions to hubs; no door looks into it. */
export const routerKey: JsonObject = {
  name: 'X-Router-Key',
  in: 'header',
  required: false,
  description: 'Your own key for the third-party router; wanted for a router/* model, never kept.',
  schema: { type: 'string', maxLength: limits.router_key_chars_max },
};

const { idempotency_key_chars_max: KEY_CHARS, answer_kept_hours: KEPT_HOURS } = limits;

/** Read by what sells; no door looks into it. */
export const idempotencyKey: JsonObject = {
  name: IDEMPOTENCY_HEADER,
  in: 'header',
  required: false,
  description:
    `Names this request, so that it is done once (draft-ietf-httpapi-idempotency-key-header): 1 to ${KEY_CHARS} visible ASCII ` +
    `characters, with quotes or without. With an API key: the same key and request bring the same answer for ${KEPT_HOURS} hours, ` +
    'another request 409 `idempotency_key_conflict`, one under way 409 `idempotency_key_in_flight`; a request that failed ' +
    'leaves its key free. Beside a payment it names the purchase of that payer: under it another payment of his for the ' +
    'same request brings what the first one bought, and is not charged. The same payment again needs no key.',
  schema: { type: 'string', minLength: 1, maxLength: KEY_CHARS + 2 },
};

/** Read by the graph, of a mutation that nobody pays for. */
export const idempotencyKeyOfWrite: JsonObject = {
  ...idempotencyKey,
  description:
    `Names this request, so that it is carried out once (draft-ietf-httpapi-idempotency-key-header): 1 to ${KEY_CHARS} visible ASCII ` +
    `characters, with quotes or without. For ${KEPT_HOURS} hours the same key and request of the same caller return the same response, with ` +
    '`x-svc-settlement-status: idempotent_replay`; another request is 409 `idempotency_key_conflict`, one in progress 409 ' +
    `\`idempotency_key_in_flight\`, and one whose response was not kept (it was lost, or is longer than ${limits.written_once_answer_bytes_max / 1_024} KiB) 409 ` +
    `\`idempotency_answer_gone\`. A request that was refused leaves its key free. At most ${limits.written_once_max} keys per caller (429).`,
};

/** Read where a payment is claimed; no door looks into it. */
export const delegation: JsonObject = {
  name: DELEGATION_HEADER,
  in: 'header',
  required: false,
  description:
    'Sent beside a payment on Base or an API key: base64url of the JSON {grant, signature}, the signed AuthorizeSession under which the ' +
    'call is made (GET /v1/sessions/types). Beside a payment, the payer of the grant must be the payer of the payment. A session limits ' +
    'only requests that carry this header: others are limited by the policies of the book alone. The JSON may also have an `act` {nonce, ' +
    'deadline, signature} or {challenge_id, signature}, a SessionAct `pay` on `payment/<EIP-3009 nonce>`: it is the fresh approval that ' +
    'the book may require for a call. The header is part of the request that the payment buys. A grant limits spending and holds no ' +
    'money: the payer pays by x402.',
  schema: { type: 'string', maxLength: sessionLimits.delegation_header_chars_max },
};

/** Read where a payment is claimed; no door looks into it. */
export const note: JsonObject = {
  name: NOTE_HEADER,
  in: 'header',
  required: false,
  description:
    'Purpose of the call in the words of the caller (UTF-8). If the book refuses the call until a person approves it, the approval request shows ' +
    'this as `note`, marked as the caller’s own claim, beside the text of the request. It is not part of what is approved, and is stored encrypted ' +
    'until the request is answered or expires. Longer than the limit: 400.',
  schema: { type: 'string', maxLength: approvalLimits.note_characters_max },
};

/** Read by what delivers again what a payment has bought; no door looks into it. */
export const redelivery: JsonObject = {
  name: REDELIVERY_HEADER,
  in: 'header',
  required: false,
  description:
    'Proves that the sender of a payment is its payer, if a 409 `payer_proof_required` requires that: ' +
    '`<unix seconds>:<signature>`, the paying wallet’s signature (EIP-191 or ERC-1271, hex; on Solana Ed25519, base58) over ' +
    `${textForm('redeliver')}, valid for ${limits.wallet_signature_age_seconds_max} seconds. The 409 response contains the text.`,
  schema: { type: 'string' },
};

const window = `window = floor(unix seconds / ${limits.book_proof_window_seconds}); the current and the previous one pass`;

/** Both forms of a book proof, as OpenAPI says it of the header that brings one. */
export const proofForms = [
  'Possession without the session on the wire: `sha256=<hex>`, HMAC-SHA256 keyed by the session; also body `proof`.',
  `Plain, over \`<agent_id>.<window>\` (${window}): it reads as often as one likes, and writes once per window, method,`,
  'path and SHA-256 of the canonical JSON (RFC 8785) body without `proof`; a write that is refused counts too.',
  'Bound, preferred, with X-SVC-Nonce: over',
  '`<agent_id>.<window>.<METHOD>.<path>.<sha256 hex of that canonical JSON>.<nonce>`; each nonce is taken once.',
  'METHOD as in the request line; path as described here with its parameters filled in, without base and query; no body',
  'counts as `{}`. What has been used is 403, empty; so is a proof where the session rotates. On /graphql X-SVC-Agent names',
  'the agent: path `/graphql`, the body that of the request. In connectionParams of graphql-transport-ws:',
  '`{agent_id, proof, nonce}`, METHOD GET, path `/graphql`, the body connectionParams without `proof`; a socket opened by a',
  'plain proof is closed (4403) when that passes no more.',
].join(' ');

/** Read before any door looks at what else there is. */
export const sessionHeader: JsonObject = {
  name: 'X-SVC-Session',
  in: 'header',
  required: false,
  description: 'Possession secret of the book; also body `session`, which goes before.',
  schema: { type: 'string' },
};

/** The same where nobody has to show it. */
export const bookSession: JsonObject = {
  ...sessionHeader,
  description:
    "The call lands on the book of this session's agent; without it, on that of the agent registered for the payer's wallet. " +
    'A wrong one is 403, and nothing is charged. Also body `session`, which goes before.',
};

/** Read beside several sessions: of any other book nobody has said that its caps are meant. */
export const namedBook: JsonObject = {
  name: 'X-SVC-Agent',
  in: 'header',
  required: false,
  description:
    'Where X-SVC-Session brings several sessions (joined by commas): the agent_id on whose book the call lands, else 400 ' +
    '`book_not_named`. One whose session did not come is 403.',
  schema: { type: 'integer', minimum: 1 },
};

/** In place of the session. */
export const shownProof: JsonObject = {
  name: 'X-SVC-Proof',
  in: 'header',
  required: false,
  description: proofForms,
  schema: { type: 'string', pattern: PROOF_PATTERN },
};

/** Read with the proof. */
export const proofNonce: JsonObject = {
  name: 'X-SVC-Nonce',
  in: 'header',
  required: false,
  description: 'Makes X-SVC-Proof the bound form; taken once.',
  schema: { type: 'string', pattern: NONCE_PATTERN },
};

/** Read wherever an answer may be kept; no door looks into it. */
export const ifNoneMatch: JsonObject = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'ETags of what the caller holds: where one of them still names the document, the answer is 304.',
  schema: { type: 'string' },
};

export const unchanged: JsonObject = {
  description: 'If-None-Match names what the document says still; without a body.',
  headers: { ...answerHeaders.kept, ...answerHeaders.rate },
};
