import { canonicalJson, isJsonObject, type JsonObject } from '../../../../schema/canonical-json.ts';
import type { DocumentVerification } from '../report.ts';
import { type Jwks, type ParsedJws, splitJws } from '../signature.ts';
import {
  issuerSigned,
  judgeBy,
  malformedDocument,
  type Rule,
  type SignedDocument,
  undatedFault,
} from '../signed-document.ts';

/** Whether a document has the members of a signed agent card (A2A). */
export function isAgentCard({ signatures, skills, name }: JsonObject): boolean {
  return Array.isArray(signatures) && Array.isArray(skills) && typeof name === 'string';
}

/**
 * Verifies the card of an agent against a published key set, offline (A2A 1.0 §8.4). Each signature is a JWS without its payload, which is
 * the canonical JSON of the card without `signatures`. As for receipts, one valid signature is enough.
 */
export function verifyAgentCard(document: JsonObject, jwks: Jwks): DocumentVerification {
  const { signatures, ...card } = document;
  try {
    const tokens = (Array.isArray(signatures) ? signatures : []).map(each => tokenOf(each, card));
    const judged = tokens.map(jws => (jws ? judgeBy(rules, { document, payload: card, jws, jwks }) : null));
    const held = judged.find(each => each?.kind === 'held');
    if (held?.kind === 'held') {
      const broken = judged.flatMap((each, at) => (each?.kind === 'held' ? [] : [`signatures.${at}`]));
      const report = { unsigned: { lane: [], unknown: [] }, broken, unchecked };
      return { kind: 'valid', claims: card, checks: held.checks, report };
    }
    const invalid = judged.find(each => each?.kind === 'invalid');
    return invalid?.kind === 'invalid' ? invalid : malformedDocument('The card has no readable signature.');
  } catch (fault) {
    // A rule throws only for a text without a canonical form (RFC 8785).
    return malformedDocument(`The card has no canonical form: ${String(fault)}`);
  }
}

function tokenOf(signature: unknown, card: JsonObject): ParsedJws | null {
  if (!isJsonObject(signature) || typeof signature.protected !== 'string') return null;
  const payload = Buffer.from(canonicalJson(card)).toString('base64url');
  const token = splitJws(`${signature.protected}.${payload}.${String(signature.signature)}`);
  const { crit, b64 } = token?.header ?? {};
  return crit === undefined && b64 === undefined ? token : null;
}

/** Rules about the times of a key. A card states no time, so only the revocation of its key can be checked, by a separate rule. */
const TIMED = ['key_not_active', 'key_retired', 'key_revoked'];

const rules: readonly Rule<SignedDocument>[] = [
  ...issuerSigned.filter(({ code }) => !TIMED.includes(code)),
  {
    code: 'key_revoked',
    says: 'The signing key is not revoked.',
    fault: ({ jws: { header }, jwks }) => undatedFault(jwks, header.kid, undefined),
  },
];

const unchecked = [
  'Whether the agent still has this card: a card has no date. Compare it with /.well-known/agent-card.json.',
];
