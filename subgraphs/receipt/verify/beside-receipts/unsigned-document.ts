import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { documents } from '../../../../schema/documents.ts';
import type { Invalid } from '../signed-document.ts';

/* Recognises the unsigned documents of this service, and says what to verify instead of each. */

const said = (noun: string, instead: string) => `This is a ${noun}, which is not signed. Instead, verify ${instead}.`;

/** The sentence for each unsigned document, by its `schema`. */
const by_schema: Readonly<Record<string, string>> = {
  [documents.book_seq_report]: said(
    'sequence report of a book',
    'the published export of the book, or each receipt at its verify_url',
  ),
  [documents.endpoint_score]: said(
    'score of an endpoint',
    'the posts that it counts: /v1/board/posts?endpoint= lists them with their receipts',
  ),
  [documents.receipt_policy]: said(
    'receipt policy',
    '/.well-known/receipt-policy-history.json, which signs the newest policy, or a receipt, which signs the hash of its policy',
  ),
  [documents.key_revocation]: said(
    'key revocation without its signed statement',
    '/.well-known/revocations, which has the signed statement of each revocation',
  ),
};

function unsignedIn(document: JsonObject): string | null {
  const found = Object.entries(by_schema).find(([schema]) => schema === document.schema);
  if (found) return found[1];
  if (document.schema === undefined && Array.isArray(document.keys))
    return 'This is a key set, which is not signed as a whole. Use it to verify other documents, after you have compared it with a key set that you already trust.';
  if (Array.isArray(document.verificationMethod))
    return said('DID document', 'the key set (/.well-known/jwks.json), which has the same keys');
  return null;
}

export const isUnsigned = (document: JsonObject): boolean => unsignedIn(document) !== null;

export function verifyUnsigned(document: JsonObject): Invalid {
  return {
    kind: 'invalid',
    code: 'not_signed',
    sentence: unsignedIn(document) ?? 'This is not a kind of document that is signed, so there is nothing to verify.',
    checks: [],
  };
}
