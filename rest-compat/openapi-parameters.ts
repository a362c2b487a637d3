import type { JsonObject } from '../schema/canonical-json.ts';
import { limits } from '../schema/limits.ts';
import { REDELIVERY_HEADER } from '../schema/redelivery.ts';

/** Read for `router/*` models, by what puts questions to hubs; no door looks into it. */
export const routerKey: JsonObject = {
  name: 'X-Router-Key',
  in: 'header',
  required: false,
  description: 'Your own key for the third-party router; wanted for a router/* model, never kept.',
  schema: { type: 'string', maxLength: limits.router_key_chars_max },
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
