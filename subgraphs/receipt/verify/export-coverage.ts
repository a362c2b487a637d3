import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import { commitmentsHash, coverageRules, rowCommitment } from '../../../schema/export-coverage.ts';
import { revocationOf } from './key-times.ts';
import type { DocumentVerification } from './report.ts';
import { base64url, type Jwks, parseJws, verifyEs256 } from './signature.ts';
import { judgeBy, malformedDocument, type Rule, unless } from './signed-document.ts';

/** The coverage of an export, with the export that it belongs to. */
export interface CoveredExport {
  readonly coverage: JsonObject;
  /** The audit pack, or a CSV text, whose rows are not checked. */
  readonly document: Json | undefined;
  readonly book_id: Json | undefined;
  readonly jwks: Jwks;
}

/** The rules of a coverage, for verifiers of documents that contain one. @param covered finds the coverage in an opened document */
export function coverageRulesOf<Opened>(covered: (opened: Opened) => CoveredExport): readonly Rule<Opened>[] {
  return rules.map(({ code, says, fault }) => ({ code, says, fault: opened => fault(covered(opened)) }));
}

const rules: readonly Rule<CoveredExport>[] = [
  {
    code: 'coverage_signature',
    says: 'The issuer signed the whole coverage (ES256).',
    fault: ({ coverage, jwks }) => signatureFault(coverage, jwks),
  },
  {
    code: 'coverage_scope',
    says: 'The coverage names the book of the export, and uses the rules that this verifier knows.',
    fault: ({ coverage, book_id }) =>
      unless(
        coverage.schema === documents.export_coverage &&
          coverage.payload_version === 1 &&
          coverage.book_id === book_id &&
          isJsonObject(coverage.scope) &&
          coverage.scope.book_id === book_id &&
          Object.entries(coverageRules).every(([name, rule]) => coverage[name] === rule),
        'The coverage names another book, or uses rules that this verifier does not know.',
      ),
  },
  {
    code: 'coverage_counts',
    says: 'The counts agree with each other, and with complete, truncated and empty_reason.',
    fault: ({ coverage }) => countFault(coverage),
  },
  {
    code: 'coverage_rows',
    says: 'The rows are in order, as many as enumerated_count says, and have the enumerated_hash.',
    fault: ({ coverage, document }) => (typeof document === 'string' ? null : rowFault(coverage, document)),
  },
];

function signatureFault(coverage: JsonObject, jwks: Jwks): string | null {
  const { issuer_signature, ...payload } = coverage;
  if (!isJsonObject(issuer_signature)) return 'The coverage has no issuer_signature.';
  const { jws: token, kid, value, alg } = issuer_signature;
  const jws = parseJws(token);
  if (jws === null || alg !== 'ES256' || jws.header.alg !== 'ES256' || jws.header.kid !== kid)
    return 'issuer_signature of the coverage is not a valid ES256 JWS.';
  if (!verifyEs256(jwks, kid, jws.input, jws.signature))
    return 'No key of the key set verifies the signature of the coverage.';
  if (revocationOf(jwks, kid) !== null)
    return 'The key that signed the coverage was revoked, and nothing proves that the coverage was signed before.';
  const { iss: _iss, iat: _iat, jti: _jti, ...signed } = jws.claims;
  const canonical = canonicalJson(payload);
  if (canonicalJson(signed) !== canonical) return 'The coverage differs from the one that was signed.';
  return unless(
    verifyEs256(jwks, kid, canonical, base64url(value)),
    'issuer_signature.value is not a signature of the coverage.',
  );
}

const isCount = (value: Json | undefined): value is number => typeof value === 'number' && value >= 0;

function countFault(coverage: JsonObject): string | null {
  const { enumerated_count, universe_count, omitted_by_policy_count, filtered_out_count, empty_reason } = coverage;
  const hashes = [coverage.enumerated_hash, coverage.universe_hash];
  if (empty_reason === 'empty_by_drain') {
    const unknown = [universe_count, omitted_by_policy_count, filtered_out_count, ...hashes].every(it => it === null);
    const open = enumerated_count === 0 && coverage.complete === false && coverage.truncated === false;
    return unless(
      unknown && open,
      'empty_reason says that the scan did not finish, but the coverage states results of it.',
    );
  }
  if (![enumerated_count, universe_count, omitted_by_policy_count, filtered_out_count].every(isCount))
    return 'A count is missing.';
  const [listed, all, omitted, filtered] = [
    enumerated_count,
    universe_count,
    omitted_by_policy_count,
    filtered_out_count,
  ].map(Number) as [number, number, number, number];
  const agree =
    listed + omitted + filtered === all &&
    coverage.complete === (listed === all) &&
    coverage.truncated === omitted > 0 &&
    empty_reason === (listed === 0 ? 'empty_by_policy' : null) &&
    hashes.every(it => typeof it === 'string' && /^[0-9a-f]{64}$/.test(it)) &&
    (!coverage.complete || hashes[0] === hashes[1]);
  return unless(agree, 'The counts of the coverage contradict each other.');
}

function rowFault(coverage: JsonObject, document: Json | undefined): string | null {
  const rows = isJsonObject(document) ? document.rows : null;
  if (!Array.isArray(rows) || !rows.every(isCommittable)) return 'The document has no rows of an audit pack.';
  if (rows.length !== coverage.enumerated_count) return 'The number of rows differs from enumerated_count.';
  const places = rows.map(row => Buffer.from(`${String(row.collected_at)}\0${String(row.task_id)}`));
  if (places.some((place, index) => index > 0 && place.compare(places[index - 1] ?? place) < 0))
    return 'The rows are not in the order that the coverage states.';
  if (coverage.enumerated_hash === null) return null;
  return unless(
    commitmentsHash(rows.map(rowCommitment)) === coverage.enumerated_hash,
    'The rows do not have the enumerated_hash.',
  );
}

/** Whether the members of a row have the types that its commitment hashes. */
function isCommittable(row: Json): row is JsonObject {
  if (!isJsonObject(row)) return false;
  const texts = [row.task_id, row.evidence, row.collected_at];
  const nullable = [row.amount, row.payment_ref];
  return texts.every(it => typeof it === 'string') && nullable.every(it => it === null || typeof it === 'string');
}

/** Verifies a coverage without its export: its signature, and that its counts agree. Its rows are only in the export. */
export function verifyCoverage(document: JsonObject, jwks: Jwks): DocumentVerification {
  try {
    const covered = { coverage: document, document: '', book_id: document.book_id, jwks };
    const judged = judgeBy(rules, covered);
    if (judged.kind === 'invalid') return judged;
    const { issuer_signature: _, ...claims } = document;
    const unchecked = ['Whether the rows of the export are these: verify the export that the coverage belongs to.'];
    return {
      kind: 'valid',
      claims,
      checks: judged.checks.filter(({ code }) => code !== 'coverage_rows'),
      report: { unsigned: { lane: [], unknown: [] }, broken: [], unchecked },
    };
  } catch (fault) {
    // A rule throws only for a text without a canonical form (RFC 8785).
    return malformedDocument(`The coverage has no canonical form: ${String(fault)}`);
  }
}
