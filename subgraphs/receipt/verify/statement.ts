import { canonicalJson, isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { coseHeader, INCLUSION_PROOFS, RFC9162_SHA256, STATEMENT_CONTENT } from '../../../schema/cose.ts';
import { sha256Hex } from '../../../schema/digest.ts';
import { cwtFacts, isBytes, keyFault, type ParsedSign1, parseSign1, readCbor, verifySign1 } from './cose.ts';
import { PROOF_LINES_MAX } from './log-proof.ts';
import { leafHash, rootOfPath } from './merkle-proof.ts';
import type { Jwks } from './signature.ts';
import { type Check, type Invalid, judgeBy, malformedDocument, type Rule, unless } from './signed-document.ts';

/** The place of an entry in the log according to its COSE receipt, not verified. */
interface ClaimedPlace {
  readonly leaf_index: number;
  readonly size: number;
  readonly root: Buffer;
}

export type StatementVerification =
  | {
      readonly kind: 'valid';
      readonly checks: readonly Check[];
      /** The payload that the receipt signs. */
      readonly payload: JsonObject;
      readonly payload_hash: string;
      readonly iss: string;
      /** Time at which the receipt was signed in this form, by the key that was current then (Unix seconds). */
      readonly iat: number;
      readonly leaf_index: number;
      readonly tree_size: number;
    }
  | Invalid;

interface OpenedStatement {
  readonly statement: ParsedSign1;
  readonly facts: NonNullable<ReturnType<typeof cwtFacts>>;
  readonly entry: Uint8Array;
  readonly log_receipt: ParsedSign1;
  readonly place: ClaimedPlace | null;
  readonly jwks: Jwks;
}

/** Maximum length of a statement, which usually has only a receipt of some kilobytes and a path. */
const STATEMENT_BYTES_MAX = 1024 * 1024;

/**
 * Verifies a receipt as a SCITT transparent statement (RFC 9943) offline, by a published key set: the issuer's COSE_Sign1 over the
 * canonical payload, and the log's COSE receipt (RFC 9942) that exactly these bytes are one of its leaves.
 */
export function verifyStatement(bytes: Uint8Array, jwks: Jwks): StatementVerification {
  const opened = bytes.length > STATEMENT_BYTES_MAX ? null : open(bytes, jwks);
  if (opened === null) return malformedDocument('This is not a COSE_Sign1 with one log receipt.');
  const judged = judgeBy(rules, opened);
  if (judged.kind === 'invalid') return judged;
  const { entry, facts, place } = opened;
  const payload = jsonIn(entry);
  if (payload === null || place === null)
    return malformedDocument('The statement contains no payload, or no place in the log.');
  const { iss, iat } = facts;
  const { leaf_index, size } = place;
  return {
    kind: 'valid',
    checks: judged.checks,
    payload,
    payload_hash: sha256Hex(entry),
    iss,
    iat,
    leaf_index,
    tree_size: size,
  };
}

function open(bytes: Uint8Array, jwks: Jwks): OpenedStatement | null {
  const statement = parseSign1(bytes);
  const facts = statement && cwtFacts(statement);
  if (!statement?.payload || !facts) return null;
  // Any other entry of the unprotected header would be unsigned, so none is accepted.
  const receipts: unknown = statement.unprotected.size === 1 ? statement.unprotected.get(coseHeader.receipts) : null;
  if (!Array.isArray(receipts) || receipts.length !== 1 || !isBytes(receipts[0])) return null;
  const log_receipt = parseSign1(receipts[0]);
  if (log_receipt === null || log_receipt.payload !== null) return null;
  return {
    statement,
    facts,
    entry: statement.payload,
    log_receipt,
    place: placeIn(log_receipt, statement.payload),
    jwks,
  };
}

/** Reads the only inclusion proof (RFC 9942 §5.2) and the root to which it leads from the entry; null if it leads to none. */
function placeIn({ unprotected }: ParsedSign1, entry: Uint8Array): ClaimedPlace | null {
  const proofs: unknown = unprotected.size === 1 ? unprotected.get(coseHeader.vdp) : null;
  const inclusions: unknown = proofs instanceof Map && proofs.size === 1 ? proofs.get(INCLUSION_PROOFS) : null;
  if (!Array.isArray(inclusions) || inclusions.length !== 1 || !isBytes(inclusions[0])) return null;
  const proof = readCbor(inclusions[0]);
  if (!Array.isArray(proof) || proof.length !== 3) return null;
  const [size, leaf_index, path]: unknown[] = proof;
  if (!isCount(size) || !isCount(leaf_index) || !Array.isArray(path) || path.length > PROOF_LINES_MAX) return null;
  const hashes = path.filter(isBytes).filter(hash => hash.length === 32);
  if (hashes.length !== path.length) return null;
  const root = rootOfPath(
    { leaf: leafHash(entry), leaf_index, size },
    hashes.map(hash => Buffer.from(hash)),
  );
  return root && { leaf_index, size, root };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/** Rules in the order in which they are checked: each may rely on all before it. */
const rules: readonly Rule<OpenedStatement>[] = [
  {
    code: 'signature_invalid',
    says: 'The issuer signed these bytes (COSE_Sign1, ES256).',
    fault: ({ statement, entry, jwks }) =>
      unless(
        verifySign1(statement, entry, jwks),
        'No key of the key set verifies the COSE_Sign1: the statement was altered, or another issuer signed it.',
      ),
  },
  {
    code: 'payload_differs',
    says: 'The signed bytes are the canonical payload of the task that the statement names as its subject.',
    fault: ({ statement, entry, facts }) => {
      const payload = jsonIn(entry);
      const named =
        statement.header.get(coseHeader.content_type) === STATEMENT_CONTENT && payload?.task_id === facts.sub;
      return unless(named, 'The statement names another task than its payload, or its payload is not canonical JSON.');
    },
  },
  {
    code: 'inclusion_invalid',
    says: 'The inclusion proof leads from these bytes to a root that the log signed.',
    fault: ({ log_receipt, place, jwks }) =>
      unless(
        place !== null &&
          log_receipt.header.get(coseHeader.vds) === RFC9162_SHA256 &&
          verifySign1(log_receipt, place.root, jwks),
        'The inclusion proof does not lead to a root that the log signed.',
      ),
  },
  {
    code: 'log_foreign',
    says: 'The log is the issuer’s, and has the size that the proof is for.',
    fault: ({ log_receipt, facts, place }) => {
      const log = cwtFacts(log_receipt);
      // Only the issuer is compared, not the name of the log: a log keeps its first name after the service has moved.
      return unless(
        log?.iss === facts.iss && log_receipt.header.get(coseHeader.tree_size) === place?.size,
        'The proof is for a log of another issuer, or for another size of the log.',
      );
    },
  },
  {
    code: 'key_not_in_force',
    says: 'Each key was active when it signed, and is not revoked, or the log contained the payload before the revocation.',
    fault: ({ statement, log_receipt, place, jwks }) =>
      keyFault(log_receipt, jwks, null) ?? keyFault(statement, jwks, place),
  },
];

/** The payload, if the bytes are exactly its canonical form; null if they are not. */
function jsonIn(bytes: Uint8Array): JsonObject | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && canonicalJson(value) === text ? value : null;
  } catch {
    return null;
  }
}
