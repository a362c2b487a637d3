import { canonicalJson, isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { isEarly, isLate } from './key-times.ts';
import type { DocumentVerification } from './report.ts';
import { base64url, type Jwks, keysIn, verifyEs256 } from './signature.ts';
import { judgeBy, type Rule, unless } from './signed-document.ts';

/* Verifies answers whose signature names no key: the record of foreign spend, and the allowance of a book. */

/** Whether a document is the answer of POST /v1/agents/{agent_id}/book/ingest. */
export function isIngestRecord({ source, signature }: JsonObject): boolean {
  return source === 'foreign_ingest' && isJsonObject(signature) && signature.scope === 'recorded';
}

/** Whether a document is the `allowance` of a book. */
export function isAllowance(document: JsonObject): boolean {
  return Object.keys(document).sort().join() === 'agent_id,as_of,remaining,signature';
}

export function verifyIngestRecord(document: JsonObject, jwks: Jwks): DocumentVerification {
  const { signature, issuer_signature, ...said } = document;
  return verifyRecorded(said, { signature, jwks }, [
    'Whether the payment moved: look payment.ref up on its network. The issuer attests nothing about the merchant.',
    ...(issuer_signature === undefined
      ? []
      : ['The receipt of the payment, which issuer_signature signs: verify it at verify_url.']),
  ]);
}

export function verifyAllowance(document: JsonObject, jwks: Jwks): DocumentVerification {
  const { signature, ...said } = document;
  return verifyRecorded(said, { signature, jwks }, ['What remains now: the allowance is the one at the time as_of.']);
}

interface OpenedRecord {
  readonly said: JsonObject;
  readonly signature: JsonObject[string] | undefined;
  readonly jwks: Jwks;
}

function verifyRecorded(
  said: JsonObject,
  { signature, jwks }: Omit<OpenedRecord, 'said'>,
  unchecked: readonly string[],
): DocumentVerification {
  const judged = judgeBy(rules, { said, signature, jwks });
  if (judged.kind === 'invalid') return judged;
  const report = { unsigned: { lane: [], unknown: [] }, broken: [], unchecked };
  return { kind: 'valid', claims: said, checks: judged.checks, report };
}

/** The stated time as the `iat` of a token. Empty for an answer without a time, which no key with times can have signed. */
function statedTime({ as_of, recorded_at }: JsonObject): JsonObject {
  const seconds = Math.floor(Date.parse(String(as_of ?? recorded_at)) / 1000);
  return Number.isFinite(seconds) ? { iat: seconds } : {};
}

const rules: readonly Rule<OpenedRecord>[] = [
  {
    code: 'signature_invalid',
    says: 'A key of the key set that is not revoked, and was active at the stated time, signed these members (ES256 over canonical JSON).',
    fault: ({ said, signature, jwks }) => {
      const { alg, value } = isJsonObject(signature) ? signature : {};
      const text = canonicalJson(said);
      const stated = statedTime(said);
      const signs = keysIn(jwks).some(
        ({ kid, revoked }) =>
          revoked === undefined &&
          !isEarly(jwks, kid, stated) &&
          !isLate(jwks, kid, stated) &&
          verifyEs256(jwks, kid, text, base64url(value)),
      );
      return unless(
        alg === 'ES256' && signs,
        'No key of the key set verifies the signature: the document was altered, or another issuer signed it.',
      );
    },
  },
];
