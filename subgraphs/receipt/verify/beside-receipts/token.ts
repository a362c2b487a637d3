import type { Json } from '../../../../schema/canonical-json.ts';
import type { DocumentVerification } from '../report.ts';
import { type Jwks, parseJws } from '../signature.ts';
import { issuerRules, judgeBy, tokenFault } from '../signed-document.ts';
import { isDelivery, isOffer, verifyDelivery, verifyOffer } from './x402-artifact.ts';

/**
 * Verifies a token that was cut out of a document: the `jws` of a receipt, a head or a statement, or an artifact of
 * x402. It shows only that the token was signed; its meaning is in the document.
 */
export function verifyToken(token: string, jwks: Jwks): DocumentVerification {
  const artifact = { format: 'jws', signature: token };
  if (isDelivery(artifact)) return verifyDelivery(artifact, jwks);
  if (isOffer(artifact)) return verifyOffer(artifact, jwks);
  const jws = parseJws(token);
  if (jws === null) return tokenFault(token, 'This is not a readable token.');
  const judged = judgeBy(issuerRules, { document: {}, payload: jws.claims, jws, jwks });
  if (judged.kind === 'invalid') return judged;
  const report = { unsigned: { lane: [], unknown: [] }, broken: [], unchecked };
  return { kind: 'valid', claims: jws.claims, checks: judged.checks, report };
}

const unchecked = [
  'The document that this token was taken from: verify that document too, because its other members may differ from the token.',
];

/**
 * URL of the key set that the header names (`jku`), for clients that fetch it; null if it names none. It never decides which key of a key
 * set is trusted.
 */
export function keySetOfToken(token: Json | undefined): string | null {
  const { jku } = parseJws(token)?.header ?? {};
  return typeof jku === 'string' ? jku : null;
}
