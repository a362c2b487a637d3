import type { JsonObject } from '../../schema/canonical-json.ts';
import { IDEMPOTENCY_HEADER } from '../../schema/idempotency-key.ts';
import { approvalLimits, limits, sessionLimits } from '../../schema/limits.ts';
import { NONCE_PATTERN, PROOF_PATTERN } from '../../schema/proof.ts';
import { REDELIVERY_HEADER } from '../../schema/redeliver-header.ts';
import { DELEGATION_HEADER } from '../../schema/session/delegation-header.ts';
import { NOTE_HEADER } from '../../schema/session/note-header.ts';
import { textForm } from '../../schema/signed-words.ts';
import type { OwnHeader } from '../request-headers.ts';

/** Read when a hub is called, for `router/*` models. */
export const routerKey: JsonObject = {
  name: 'X-Router-Key' satisfies OwnHeader,
  in: 'header',
  required: false,
  description: 'API key of the caller for the third-party router. Required for a `router/*` model. Not stored.',
  schema: { type: 'string', maxLength: limits.router_key_chars_max },
};

const { idempotency_key_chars_max: KEY_CHARS, answer_kept_hours: KEPT_HOURS } = limits;

/** Read when a paid request is claimed. */
export const idempotencyKey: JsonObject = {
  name: IDEMPOTENCY_HEADER,
  in: 'header',
  required: false,
  description:
    `Key by which this request is carried out once (draft-ietf-httpapi-idempotency-key-header): 1 to ${KEY_CHARS} visible ASCII ` +
    `characters, with quotes or without. With an API key, the same key and request return the same response for ${KEPT_HOURS} hours; ` +
    'another request is 409 `idempotency_key_conflict`, one in progress 409 `idempotency_key_in_flight`. A request that failed ' +
    'leaves its key free. With a payment, the key names a purchase of the payer: another payment of the same payer with the same key and ' +
    'request returns what the first payment bought, and is not charged. The same payment can be sent again without a key.',
  schema: { type: 'string', minLength: 1, maxLength: KEY_CHARS + 2 },
};

/** The same for an effect that exists once anyway: a call by API key is not stored under it. */
export const idempotencyKeyOfStamp: JsonObject = {
  ...idempotencyKey,
  description:
    `Name of this purchase (draft-ietf-httpapi-idempotency-key-header): 1 to ${KEY_CHARS} visible ASCII characters, with quotes or without. ` +
    'Another payment of the same payer with the same key and request returns what the first payment bought, and is not charged; with ' +
    'another request it is 409 `idempotency_key_conflict`. The same payment can be sent again without a key. Without a payment, and for ' +
    'the payments of a job, the key has no effect.',
};

/** Read by the graph, for mutations that are not paid. */
export const idempotencyKeyOfWrite: JsonObject = {
  ...idempotencyKey,
  description:
    `Key by which this request is carried out once (draft-ietf-httpapi-idempotency-key-header): 1 to ${KEY_CHARS} visible ASCII ` +
    `characters, with quotes or without. For ${KEPT_HOURS} hours the same key and request of the same caller return the same response, with ` +
    '`x-svc-settlement-status: idempotent_replay`; another request is 409 `idempotency_key_conflict`, one in progress 409 ' +
    `\`idempotency_key_in_flight\`, and one whose response was not kept (it was lost, or is longer than ${limits.written_once_answer_bytes_max / 1_024} KiB) 409 ` +
    `\`idempotency_answer_gone\`. A request that was refused leaves its key free. At most ${limits.written_once_max} keys per caller (429).`,
};

/** Read when a payment is claimed. */
export const delegation: JsonObject = {
  name: DELEGATION_HEADER,
  in: 'header',
  required: false,
  description:
    'Sent with a payment on Base or an API key: base64url of the JSON {grant, signature}, the signed AuthorizeSession under which the ' +
    'call is made (GET /v1/sessions/types). The payer of the grant must be the payer of the payment. A session limits only ' +
    'requests that have this header; all others are limited by the policies of the book alone. The JSON may also have an `act` {nonce, ' +
    'deadline, signature} or {challenge_id, signature}, a SessionAct `pay` on `payment/<EIP-3009 nonce>`: it is the fresh approval that ' +
    'the book may require for a call. The header is part of the request that the payment buys. A grant limits spending and holds no ' +
    'money: the payer pays by x402.',
  schema: { type: 'string', maxLength: sessionLimits.delegation_header_chars_max },
};

/** Read when a payment is claimed. */
export const note: JsonObject = {
  name: NOTE_HEADER,
  in: 'header',
  required: false,
  description:
    'Purpose of the call in the words of the caller (UTF-8). If the book refuses the call until a person approves it, the approval request shows ' +
    'it as `note`, marked as a claim of the caller. It is not part of what is approved, and is stored encrypted until the request is answered or ' +
    `expires. More than ${approvalLimits.note_characters_max} characters are refused with 400. Default: no note.`,
  schema: { type: 'string', maxLength: approvalLimits.note_characters_max },
};

/** Read when a paid answer is delivered again. */
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

const window = `window = floor(unix seconds / ${limits.book_proof_window_seconds}); the current and the previous window are valid`;

/** Description of both forms of a book proof. */
export const proofForms = [
  'Proof of possession without sending the session: `sha256=<hex>`, HMAC-SHA256 with the session as its key. Also accepted as `proof` in the body.',
  `Plain form: over \`<agent_id>.<window>\` (${window}). It allows any number of reads, and one write per window, method,`,
  'path and SHA-256 of the body, which is the canonical JSON (RFC 8785) without `proof`; a refused write counts too.',
  'Bound form (preferred), with X-SVC-Nonce: over',
  '`<agent_id>.<window>.<METHOD>.<path>.<sha256 hex of that canonical JSON>.<nonce>`; each nonce is accepted once.',
  'METHOD is that of the request line; path is the one described here with its parameters filled in, without base URL and query; a missing body',
  'counts as `{}`. A used proof is refused with 403 and an empty body, and so is a proof on an endpoint that rotates the session. On /graphql,',
  'X-SVC-Agent names the agent, the path is `/graphql`, and the body is that of the request. In connectionParams of graphql-transport-ws:',
  '`{agent_id, proof, nonce}`, with METHOD GET, path `/graphql` and connectionParams without `proof` as the body; a socket that was opened with a',
  'plain proof is closed (4403) when its window has passed.',
].join(' ');

/** Read before the rest of the request. */
export const sessionHeader: JsonObject = {
  name: 'X-SVC-Session' satisfies OwnHeader,
  in: 'header',
  required: false,
  description: 'Secret that opens the book. Also accepted as `session` in the body, which takes precedence.',
  schema: { type: 'string' },
};

/** The same, where a proof is accepted too. */
export const sessionOrProof: JsonObject = {
  ...sessionHeader,
  description:
    'Secret that opens the book. Not needed with X-SVC-Proof. Also accepted as `session` in the body, which takes precedence.',
};

/** The same, optional. */
export const bookSession: JsonObject = {
  ...sessionHeader,
  description:
    "Secret that opens the book that the call is recorded on. Default: the book of the agent that is registered for the payer's wallet, if any; with an API key none. " +
    'An invalid session is refused with 403, and nothing is charged. Also accepted as `session` in the body, which takes precedence.',
};

/** Required with several sessions, because the caps of the named book apply. */
export const agentHeader: JsonObject = {
  name: 'X-SVC-Agent' satisfies OwnHeader,
  in: 'header',
  required: false,
  description:
    'Id of the agent on whose book the call is recorded. Required (400 `book_not_named`) if X-SVC-Session has several sessions, separated by ' +
    'commas. An agent whose session was not sent is refused with 403. Default: the book that the session opens.',
  schema: { type: 'integer', minimum: 1 },
};

/** Alternative to the session. */
export const proofHeader: JsonObject = {
  name: 'X-SVC-Proof' satisfies OwnHeader,
  in: 'header',
  required: false,
  description: proofForms,
  schema: { type: 'string', pattern: PROOF_PATTERN },
};

/** Read together with the proof. */
export const proofNonce: JsonObject = {
  name: 'X-SVC-Nonce' satisfies OwnHeader,
  in: 'header',
  required: false,
  description:
    'Nonce of an X-SVC-Proof in bound form. Each nonce is accepted once. Default: the proof is in plain form.',
  schema: { type: 'string', pattern: NONCE_PATTERN },
};

/** Read for every response that may be cached. */
export const ifNoneMatch: JsonObject = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description:
    'ETags of stored copies, separated by commas. The response is 304 if one of them is current. Default: the document is returned.',
  schema: { type: 'string' },
};
