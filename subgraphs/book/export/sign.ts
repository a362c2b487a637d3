import type { PullFormat } from '../../../schema/book/export-document.ts';
import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { sha256Hex } from '../../../schema/digest.ts';
import { documents } from '../../../schema/documents.ts';
import type { CoveragePayload } from '../../../schema/export-coverage.ts';
import { jwksUri } from '../../../schema/links.ts';
import { documentHash, type PullExportPayload, pullExportUrl, pullForms } from '../../../schema/pull-export.ts';
import type { Issuer } from '../../receipt/issuer/signing-keys.ts';

/** A published export before it is signed. */
export interface UnsignedPullExport {
  readonly slug: string;
  readonly agent_id: number;
  readonly format: PullFormat;
  /** Time of the build (ISO 8601). */
  readonly exported_at: string;
  readonly specimen: boolean;
  readonly audit: JsonObject;
  readonly csv: string;
  readonly coverage: CoveragePayload;
}

const NOTE =
  'Built when its owner published it, and not since: later rows are not here, and the owner may withdraw it. Check ' +
  'document_sha256 by its rule, coverage by its own hashes, and both signatures against verify_jwks; the issuer says what ' +
  'it recorded, the chain alone says what was paid.';

/** Signs a published export (`svc402.book_pull_export.v1`). Returns the JSON text that is served. */
export function signedPullExport(issuer: Issuer, unsigned: UnsignedPullExport): string {
  const { slug, agent_id, format, exported_at, specimen, audit, csv } = unsigned;
  const document: Json = format === 'csv' ? csv : audit;
  const coverage = signedCoverage(issuer, unsigned);
  const payload: PullExportPayload = {
    schema: documents.book_pull_export,
    slug,
    agent_id,
    format,
    exported_at,
    specimen,
    document_sha256: documentHash(document),
    csv_sha256: documentHash(csv),
    coverage_sha256: sha256Hex(canonicalJson(coverage)),
  };
  const issuer_signature = { ...signatureMember(issuer, slug, exported_at, payload), issuer_jwk: publicJwk(issuer) };
  const { media_type, rule } = pullForms[format];
  return canonicalJson({
    ...payload,
    url: pullExportUrl(issuer.base_url, slug),
    verify_jwks: jwksUri(issuer.base_url),
    document_sha256_rule: rule,
    document_media_type: media_type,
    document,
    coverage,
    issuer_signature,
    pull_note: NOTE,
  });
}

function signedCoverage(issuer: Issuer, { slug, exported_at, coverage }: UnsignedPullExport): JsonObject {
  return { ...coverage, issuer_signature: signatureMember(issuer, `${slug}.coverage`, exported_at, coverage) };
}

/**
 * Signs a payload twice: as a JWS that also has the claims `iss`, `iat` and `jti`, and as a raw signature over the canonical JSON.
 */
function signatureMember(issuer: Issuer, jti: string, at: string, payload: JsonObject): JsonObject {
  const claims = { iss: issuer.base_url, iat: Math.floor(Date.parse(at) / 1000), jti, ...payload };
  return {
    alg: 'ES256',
    kid: issuer.kid,
    jws: issuer.signJws(claims),
    value: issuer.signCanonical(canonicalJson(payload)),
  };
}

function publicJwk({ jwks, kid }: Issuer): JsonObject {
  const keys: Json = jwks.keys as Json;
  const found = Array.isArray(keys) ? keys.find(key => isJsonObject(key) && key.kid === kid) : undefined;
  if (!isJsonObject(found)) throw new Error('the current key is not published');
  return found;
}
