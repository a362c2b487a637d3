import type { JsonObject } from '../../schema/canonical-json.ts';
import { IDEMPOTENCY_HEADER } from '../../schema/idempotency-key.ts';
import { limits } from '../../schema/limits.ts';
import { REDELIVERY_HEADER } from '../../schema/redelivery.ts';

/** Read for `router/*` models, by what puts questions to hubs; no door looks into it. */
export const routerKey: JsonObject = {
  name: 'X-Router-Key',
  in: 'header',
  required: false,
  description: 'Your own key for the third-party router; wanted for a router/* model, never kept.',
  schema: { type: 'string', maxLength: limits.router_key_chars_max },
};

/** Read by what sells; no door looks into it. */
export const idempotencyKey: JsonObject = {
  name: IDEMPOTENCY_HEADER,
  in: 'header',
  required: false,
  description:
    'Names this request, so that it is done once (draft-ietf-httpapi-idempotency-key-header): 1 to 255 visible ASCII ' +
    'characters, with quotes or without. With an API key: the same key and request bring the same answer for 24 hours, ' +
    'another request 409 `idempotency_key_conflict`, one under way 409 `idempotency_key_in_flight`; a request that failed ' +
    'leaves its key free. Beside a payment it names the purchase of that payer: under it another payment of his for the ' +
    'same request brings what the first one bought, and is not charged. The same payment again needs no key.',
  schema: { type: 'string', minLength: 1, maxLength: limits.idempotency_key_chars_max + 2 },
};

/** Read by what delivers again what a payment has bought; no door looks into it. */
export const redelivery: JsonObject = {
  name: REDELIVERY_HEADER,
  in: 'header',
  required: false,
  description:
    'Proves that whoever shows a payment is its payer, where a 409 `payer_proof_required` asks for that: ' +
    '`<unix seconds>:<signature>`, the paying wallet’s signature (EIP-191 or ERC-1271, hex; on Solana Ed25519, base58) over ' +
    '`svc.redeliver|<network>|<payment id>|<unix seconds>`, good for 300 s. The 409 names the text.',
  schema: { type: 'string' },
};
