import type { JsonObject } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import { NONCE_PATTERN } from '../../schema/proof.ts';

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

/** Read with the proof, before any door looks at what else there is. */
export const proofNonce: JsonObject = {
  name: 'X-SVC-Nonce',
  in: 'header',
  required: false,
  description: 'Makes X-SVC-Proof the bound form; taken once.',
  schema: { type: 'string', pattern: NONCE_PATTERN },
};
