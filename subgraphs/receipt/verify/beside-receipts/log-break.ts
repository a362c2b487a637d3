import { canonicalJson, isJsonObject, type JsonObject } from '../../../../schema/canonical-json.ts';
import { documents } from '../../../../schema/documents.ts';
import { type DocumentVerification, judgeDocument } from '../report.ts';
import { type Jwks, parseJws } from '../signature.ts';
import { type Check, issuerRules, type Rule, type SignedDocument, tokenFault, unless } from '../signed-document.ts';

/** Verifies an operator's declaration of a break of the log. Every member of it is signed. */
export function verifyLogBreak(document: JsonObject, jwks: Jwks): DocumentVerification {
  const jws = parseJws(document.jws);
  if (jws === null) return tokenFault(document.jws, 'This is not a declaration of a break of the log: jws is missing.');
  const { iss: _iss, iat: _iat, ...payload } = jws.claims;
  const reportOn = () => ({ unsigned: { lane: [], unknown: [] }, broken: [], unchecked });
  return judgeDocument({ document, payload, jws, jwks }, jws.claims, { noun: 'declaration', rules, reportOn });
}

const rules: readonly Rule<SignedDocument>[] = [
  ...issuerRules,
  {
    code: 'copy_mismatch',
    says: 'The signed claims declare a break of the log, and the document repeats exactly those claims.',
    fault: ({ document: { jws: _, kid, ...shown }, payload, jws: { header } }) =>
      unless(
        payload.schema === documents.log_break && kid === header.kid && canonicalJson(shown) === canonicalJson(payload),
        'The document differs from the signed declaration.',
      ),
  },
];

const unchecked = [
  'Which leaves were lost: the issuer states only the tree head that it had signed, and the one that is left.',
];

/** The list in `/.well-known/log-breaks.json` as a document. Documents are objects, so the list becomes the only member of one. */
export const logBreaksOf = (list: readonly JsonObject[]): JsonObject => ({ log_breaks: list });

export function isLogBreaks(document: JsonObject): boolean {
  const { log_breaks } = document;
  return Array.isArray(log_breaks) && log_breaks.length > 0 && Object.keys(document).length === 1;
}

/** Verifies the list of all breaks. Each declaration is signed, but no signature shows that the list is complete. */
export function verifyLogBreaks({ log_breaks }: JsonObject, jwks: Jwks): DocumentVerification {
  const listed = (Array.isArray(log_breaks) ? log_breaks : []).map(each => (isJsonObject(each) ? each : {}));
  const checks: Check[] = [];
  for (const [at, each] of listed.entries()) {
    const verified = verifyLogBreak(each, jwks);
    if (verified.kind === 'invalid')
      return { ...verified, sentence: `Declaration ${at + 1}: ${verified.sentence}`, checks };
    if (at === 0) checks.push(...verified.checks);
  }
  const claims = { log_breaks: listed.length, reasons: listed.map(({ reason = null }) => reason) };
  const missing = 'Whether every break is listed: no signature covers the list as a whole.';
  const report = { unsigned: { lane: [], unknown: [] }, broken: [], unchecked: [...unchecked, missing] };
  return { kind: 'valid', claims, checks, report };
}
