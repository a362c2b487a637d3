import type { JsonObject } from '../../../schema/canonical-json.ts';
import { issuerLinks, refusalUrl } from '../../../schema/links.ts';
import type { RefusalPayload } from '../../../schema/refusal-payload.ts';
import type { SignedRefusal } from './refusal.entity.ts';

/** The public refusal, as GET /refusal/{refusal_id} and the refused call itself show it: the payload, and what proves it. */
export function refusalDocument({ refusalId, payload, jws, kid, value }: SignedRefusal, base_url: string): JsonObject {
  return {
    ...(JSON.parse(payload) as RefusalPayload),
    refusal_url: refusalUrl(base_url, refusalId),
    issuer_signature: { jws, kid, value, alg: 'ES256' },
    verification: {
      ...issuerLinks(base_url),
      how: 'Verify issuer_signature.jws (ES256) with the key named by its kid, and compare its claims with this document. By a key that the set calls `revoked` it proves nothing.',
    },
  };
}
