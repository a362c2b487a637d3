import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { sha256Hex } from '../../../schema/digest.ts';
import { documents } from '../../../schema/documents.ts';
import { jwksUri } from '../../../schema/links.ts';
import { documentHash, pullExportUrl, pullForms, pullSignedMembers } from '../../../schema/pull-export.ts';
import { linkFault, type ShownLink } from './addresses.ts';
import { coverageRulesOf } from './export-coverage.ts';
import { type TokenDocument, verifyTokenDocument } from './issuer-document.ts';
import { always, type Coverage, type DocumentVerification, unsignedIn } from './report.ts';
import type { Report } from './result.ts';
import type { Jwks } from './signature.ts';
import { issuerSigned, type Rule, rawValueSigns, unless } from './signed-document.ts';

/**
 * Verifies a pulled export against a published key set, offline: the hash of its document, its coverage, and both signatures. It proves
 * what the issuer stated about the book at that time, and not that a row was paid.
 */
export function verifyPullExport(
  document: JsonObject,
  jwks: Jwks,
  options: { readonly base_url?: string } = {},
): DocumentVerification {
  const missing = 'This is not a pull export: issuer_signature.jws is missing.';
  return verifyTokenDocument(document, jwks, options, { noun: 'export', missing, rules, reportOn });
}

/** Rules in the order in which they are checked: each may rely on all before it. */
const rules: readonly Rule<TokenDocument>[] = [
  ...issuerSigned,
  {
    code: 'not_a_pull_export',
    says: 'The signed claims are an export of a book, and name its slug.',
    fault: ({ payload, jti }) =>
      unless(
        payload.schema === documents.book_pull_export &&
          jti === payload.slug &&
          typeof payload.agent_id === 'number' &&
          formOf(payload) !== null,
        'The signed claims are not an export of a book in a known format.',
      ),
  },
  {
    code: 'copy_mismatch',
    says: 'Every member that repeats a signed claim has the same value as the claim.',
    fault: ({ document, payload }) => {
      const other = pullSignedMembers.find(name => !same(document[name], payload[name]));
      return other === undefined ? null : `${other} is not what was signed.`;
    },
  },
  rawValueSigns({ required: true }),
  {
    code: 'document_hash',
    says: 'The exported document has the signed hash (document_sha256).',
    fault: ({ document, payload }) =>
      unless(
        document.document !== undefined && documentHash(document.document) === payload.document_sha256,
        'The SHA-256 of the exported document is not the signed document_sha256.',
      ),
  },
  {
    code: 'coverage_hash',
    says: 'The coverage has the signed hash (coverage_sha256).',
    fault: ({ document, payload }) =>
      unless(
        isJsonObject(document.coverage) && sha256Hex(canonicalJson(document.coverage)) === payload.coverage_sha256,
        'The SHA-256 of the coverage is not the signed coverage_sha256.',
      ),
  },
  ...coverageRulesOf<TokenDocument>(({ document, payload, jwks }) => ({
    coverage: isJsonObject(document.coverage) ? document.coverage : {},
    document: document.document,
    book_id: payload.agent_id,
    jwks,
  })),
  {
    code: 'link_foreign',
    says: 'Every link points to the issuer, and issuer_jwk is one of its keys.',
    fault: opened => linkFault(linksIn(opened), opened.addresses) ?? besideFault(opened),
  },
];

function formOf({ format }: JsonObject) {
  return format === 'json' || format === 'csv' ? pullForms[format] : null;
}

function same(one: Json | undefined, other: Json | undefined): boolean {
  return one !== undefined && other !== undefined && canonicalJson(one) === canonicalJson(other);
}

const linksIn = ({ document: { verify_jwks, url }, payload }: TokenDocument): readonly ShownLink[] => [
  { name: 'verify_jwks', link: verify_jwks ?? null, path: jwksUri('') },
  { name: 'url', link: url ?? null, path: pullExportUrl('', String(payload.slug)) },
];

function besideFault({ document, payload, jwks }: TokenDocument): string | null {
  const { issuer_signature, document_media_type, document_sha256_rule } = document;
  const form = formOf(payload);
  if (document_media_type !== form?.media_type || document_sha256_rule !== form?.rule)
    return 'document_media_type or document_sha256_rule does not fit the format.';
  const jwk = isJsonObject(issuer_signature) ? issuer_signature.issuer_jwk : null;
  const published = Array.isArray(jwks.keys) && jwks.keys.some(key => isJsonObject(key) && sameKey(key, jwk));
  return unless(published, 'issuer_jwk is not one of the published keys.');
}

/** Whether all members of the two keys agree, except `exp`: a later key set may add the time at which the key was retired. */
function sameKey(key: JsonObject, jwk: Json | undefined): boolean {
  if (!isJsonObject(jwk)) return false;
  const named = ['kid', 'crv', 'x', 'y'].every(name => jwk[name] !== undefined);
  return named && Object.entries(jwk).every(([name, said]) => name === 'exp' || same(said, key[name]));
}

const lane = new Set(['pull_note']);

const coverage: Coverage<TokenDocument> = {
  ...Object.fromEntries(pullSignedMembers.map(name => [name, always])),
  document: always,
  coverage: always,
  url: always,
  verify_jwks: always,
  document_media_type: always,
  document_sha256_rule: always,
  issuer_signature: always,
};

/** What an export that has passed every rule leaves open. */
function reportOn(opened: TokenDocument): Report {
  const { payload } = opened;
  return {
    unsigned: unsignedIn(opened.document, opened, { coverage, lane }),
    broken: [],
    unchecked: [
      'Whether any row was paid: verify its receipt, and look its payment_ref up on the chain.',
      'Whether the book has more rows by now: an export contains only rows up to the time at which it was built.',
      ...(payload.format === 'csv'
        ? ['Whether the rows of the CSV have the enumerated_hash: request the export in the format json.']
        : []),
    ],
  };
}
