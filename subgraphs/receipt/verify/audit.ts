import {
  canonicalHash,
  canonicalJson,
  isJsonObject,
  type Json,
  type JsonObject,
} from '../../../schema/canonical-json.ts';
import { sha256Hex } from '../../../schema/digest.ts';
import { documents } from '../../../schema/documents.ts';
import { lookUpOf } from '../../../schema/transfer-look-up.ts';
import { issuedCheckpoint, tlogProofText } from './checkpoint-note.ts';
import { revocationOf } from './key-times.ts';
import { leafHash, verifyConsistency, verifyInclusion } from './merkle-proof.ts';
import { type Verification, type VerifyOptions, verifyReceipt } from './receipt.ts';
import { verifyRefusal } from './refusal.ts';
import { type DocumentVerification, isSameJson } from './report.ts';
import { type Jwks, parseJws, verifyEs256 } from './signature.ts';
import { judgeBy, malformedDocument, type Rule, unless } from './signed-document.ts';

/*
 * Verifies audit documents. An audit document contains everything that an auditor needs for one receipt or refusal, with evidence from the
 * log. While the log is halted it contains no such evidence, and proves nothing about the log.
 */

/** An audit document whose receipt has been verified. */
interface OpenedAudit {
  readonly document: JsonObject;
  readonly receipt: JsonObject;
  readonly claims: JsonObject;
  readonly jwks: Jwks;
}

const inLog = (
  code: string,
  says: string,
  fault: (log: JsonObject, opened: OpenedAudit) => boolean,
): Rule<OpenedAudit> => ({
  code,
  says,
  fault: opened => {
    const { log } = opened.document;
    if (log === undefined) return null;
    return unless(isJsonObject(log) && fault(log, opened), `This check failed: ${says}`);
  },
});

/** Rules for the evidence from the log, in the order in which they are checked: each may rely on all before it. */
const logRules: readonly Rule<OpenedAudit>[] = [
  // After a move, the service signs heads of the same log under another iss, so only the key set decides whose they are.
  inLog('head_invalid', 'The issuer signed the newest tree head of the log.', ({ head }, { jwks }) => {
    if (!isJsonObject(head)) return false;
    const jws = parseJws(head.jws);
    const { log_id = null, tree_size = null, root_hash = null } = head;
    return (
      jws !== null &&
      jws.header.alg === 'ES256' &&
      verifyEs256(jwks, jws.header.kid, jws.input, jws.signature) &&
      jws.claims.tree_size === tree_size &&
      jws.claims.root_hash === root_hash &&
      jws.claims.tree_head_hash === head.tree_head_hash &&
      canonicalHash({ log_id, tree_size, root_hash }) === head.tree_head_hash
    );
  }),
  inLog(
    'not_in_log',
    'The receipt is a leaf of the log under that tree head (inclusion proof).',
    ({ head, inclusion }, { document, claims }) => {
      if (!isJsonObject(head) || !isJsonObject(inclusion)) return false;
      const { leaf_index, leaf_hash, tree_size, root_hash } = inclusion;
      const [path, root] = [hashes(inclusion.path), bytes(head.root_hash)];
      if (path === null || root === null || typeof head.tree_size !== 'number') return false;
      const leaf = leafHash(String(document.preimage));
      return (
        [leaf_index, leaf_hash, tree_size, root_hash].every(
          (said, at) => said === [claims.leaf_index, leaf.toString('hex'), head.tree_size, head.root_hash][at],
        ) && verifyInclusion({ leaf, leaf_index: Number(claims.leaf_index), size: head.tree_size, root }, path)
      );
    },
  ),
  inLog(
    'log_rewritten',
    'The log was only appended to since the receipt was signed (consistency proof).',
    ({ head, consistency }, { receipt }) => isJsonObject(head) && agrees(consistency, receipt, head),
  ),
  inLog(
    'checkpoint_invalid',
    'The checkpoint has the size and root of that tree head, and a key of the issuer signed it.',
    (log, { jwks }) => {
      const { head, inclusion, checkpoint, tlog_proof } = log;
      const said = issuedCheckpoint(checkpoint, jwks);
      if (said === null || !isJsonObject(head) || !isJsonObject(inclusion)) return false;
      const path = (inclusion.path ?? []) as readonly string[];
      return (
        said.size === head.tree_size &&
        said.root.toString('hex') === head.root_hash &&
        tlog_proof === tlogProofText(Number(inclusion.leaf_index), path, String(checkpoint))
      );
    },
  ),
  inLog(
    'anchor_foreign',
    'The tree head that is anchored on the chain, if any, is one of the same log.',
    ({ anchor }, { receipt }) =>
      anchor === undefined || anchor === null || (isJsonObject(anchor) && agrees(anchor.consistency, receipt, anchor)),
  ),
];

/** Whether a consistency proof leads from the smaller of two tree heads to the larger one. */
function agrees(proven: Json | undefined, one: JsonObject, other: JsonObject): boolean {
  if (!isJsonObject(proven)) return false;
  const [first, second] = [headOf(one), headOf(other)];
  const proof = hashes(proven.proof);
  if (first === null || second === null || proof === null) return false;
  const [smaller, larger] = first.size < second.size ? [first, second] : [second, first];
  if (proven.from !== smaller.size || proven.to !== larger.size) return false;
  return verifyConsistency(
    { old_size: smaller.size, old_root: smaller.root, size: larger.size, root: larger.root },
    proof,
  );
}

function headOf({ tree_size, root_hash }: JsonObject): { readonly size: number; readonly root: Buffer } | null {
  const root = bytes(root_hash);
  return root !== null && typeof tree_size === 'number' && tree_size > 0 ? { size: tree_size, root } : null;
}

function bytes(hash: Json | undefined): Buffer | null {
  return typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash) ? Buffer.from(hash, 'hex') : null;
}

function hashes(path: Json | undefined): Buffer[] | null {
  if (!Array.isArray(path)) return null;
  const read = path.map(bytes);
  return read.every(hash => hash !== null) ? read : null;
}

/** The keys in an audit document, so that nothing has to be fetched; null if a document has none. */
export function keysBrought(document: JsonObject): Jwks | null {
  const audits = document.schema === documents.receipt_audit || document.schema === documents.refusal_audit;
  return audits && isJsonObject(document.keys) ? document.keys : null;
}

/**
 * Verifies an audit document offline: its receipt first, then the evidence beside it. The caller decides which keys to trust: those of the
 * document itself prove only that it agrees with itself.
 */
export function verifyReceiptAudit(document: JsonObject, jwks: Jwks, options: VerifyOptions = {}): Verification {
  const { receipt } = document;
  if (!isJsonObject(receipt)) return malformedDocument('This is not an audit document: receipt is missing.');
  const base_url = options.base_url ?? movedTo(document, jwks);
  const verified = verifyReceipt(receipt, jwks, { ...(base_url !== undefined && { base_url }), dated_by_log: true });
  if (verified.kind === 'invalid') return verified;
  try {
    const { claims, checks, report } = verified;
    // Without evidence from the log, its rules would all pass and would be listed as checks that held.
    const applied = document.log === undefined ? rules.filter(rule => !logRules.includes(rule)) : rules;
    const judged = judgeBy(applied, { document, receipt, claims, jwks });
    if (judged.kind === 'invalid') return { ...judged, checks: [...checks, ...judged.checks] };
    const { lane, unknown } = report.unsigned;
    return {
      ...verified,
      checks: [...checks, ...judged.checks],
      report: {
        ...report,
        unsigned: { lane: [...lane, ...spoken(document)], unknown: [...unknown, ...strangers(document)] },
        unchecked: [...report.unchecked.filter(sentence => !isSettled(sentence, document)), ...anchorOpen(document)],
      },
    };
  } catch (fault) {
    // A rule throws only for a text without a canonical form (RFC 8785).
    return malformedDocument(`The audit document has no canonical form: ${String(fault)}`);
  }
}

/** Current base URL of the issuer, which signs the newest head: links of a receipt that was signed at an earlier address may lead there. */
function movedTo({ log }: JsonObject, jwks: Jwks): string | undefined {
  const head = isJsonObject(log) && isJsonObject(log.head) ? parseJws(log.head.jws) : null;
  const signed = head !== null && verifyEs256(jwks, head.header.kid, head.input, head.signature);
  return signed && typeof head.claims.iss === 'string' ? head.claims.iss : undefined;
}

/** Verifies the audit document of a refusal offline: the refusal, and that `preimage` is its signed payload. */
export function verifyRefusalAudit(
  document: JsonObject,
  jwks: Jwks,
  options: VerifyOptions = {},
): DocumentVerification {
  const { refusal, preimage } = document;
  if (!isJsonObject(refusal)) return malformedDocument('This is not an audit document: refusal is missing.');
  const verified = verifyRefusal(refusal, jwks, options);
  if (verified.kind === 'invalid') return verified;
  const { iss: _iss, iat: _iat, jti: _jti, ...payload } = verified.claims;
  const check = { code: 'preimage_differs', sentence: 'preimage is the canonical JSON of the signed payload.' };
  if (preimage === canonicalJson(payload)) {
    const { lane, unknown } = verified.report.unsigned;
    const strange = Object.keys(document).filter(name => !known.has(name) && name !== 'refusal');
    const unsigned = { lane: [...lane, ...spoken(document), ...evidence(document)], unknown: [...unknown, ...strange] };
    return { ...verified, checks: [...verified.checks, check], report: { ...verified.report, unsigned } };
  }
  return {
    kind: 'invalid',
    ...check,
    sentence: 'preimage is not the canonical JSON of the signed payload.',
    checks: verified.checks,
  };
}

/** Rules in the order in which they are checked: each may rely on all before it. */
const rules: readonly Rule<OpenedAudit>[] = [
  {
    code: 'preimage_differs',
    says: 'preimage is the text whose SHA-256 is the signed payload_hash.',
    fault: ({ document: { preimage }, receipt, claims }) =>
      unless(
        typeof preimage === 'string' &&
          preimage === canonicalJson(receipt.payload ?? null) &&
          (claims.payload_hash === undefined || sha256Hex(preimage) === claims.payload_hash),
        'The SHA-256 of preimage is not the signed payload_hash.',
      ),
  },
  {
    code: 'issuer_history_differs',
    says: 'The issuer-history snapshot has the signed hash, and was current when the receipt was signed.',
    fault: opened => historyFault(opened),
  },
  {
    code: 'receipt_policy_differs',
    says: 'The receipt policy has the signed hash.',
    fault: ({ document: { receipt_policy }, claims: { receipt_policy: signed } }) =>
      unless(
        !isJsonObject(signed) ||
          (isJsonObject(receipt_policy) && canonicalHash(receipt_policy.policy ?? null) === signed.hash),
        'The receipt policy does not have the signed hash.',
      ),
  },
  ...logRules,
  {
    code: 'key_revoked',
    says: 'The signing key is not revoked, or the receipt was in the log before the revocation, by a checkpoint that a valid key signed.',
    fault: opened => revocationFault(opened),
  },
  {
    code: 'transfer_differs',
    says: 'The transfer to look up is the payment that the receipt signs.',
    fault: ({ document: { transfer = null }, receipt, claims }) =>
      unless(
        isSameJson(transfer, lookUpOf(claims, receipt.ingress_receipt)),
        'transfer is not the payment that the receipt signs.',
      ),
  },
  {
    code: 'lane_differs',
    says: 'Every member of lane has the same value as in the receipt.',
    fault: ({ document: { lane }, receipt }) => {
      const members = isJsonObject(lane) ? lane : {};
      const other = Object.keys(members).find(name => !isSameJson(members[name] ?? null, receipt[name] ?? null));
      return other === undefined ? null : `lane.${other} differs from the receipt.`;
    },
  },
];

/**
 * The fault of a receipt whose key was revoked; null if there is none. The order of the log decides, because it is the order of time: the
 * rules before this one have checked that a key in force signed the checkpoint, and that the checkpoint contains the leaf. The time in the
 * receipt proves nothing.
 */
function revocationFault({
  document: { log },
  receipt: { issuer_signature },
  claims,
  jwks,
}: OpenedAudit): string | null {
  const revoked = revocationOf(jwks, isJsonObject(issuer_signature) ? issuer_signature.kid : undefined);
  if (revoked === null) return null;
  if (!isJsonObject(log))
    return `The signing key was revoked at ${revoked.at}, and no log proof shows that the receipt was signed before that.`;
  return unless(
    Number(claims.leaf_index) < revoked.tree_size,
    `The signing key was revoked at ${revoked.at}, and the receipt entered the log when others may already have had that key.`,
  );
}

function historyFault({ document: { issuer_history }, claims }: OpenedAudit): string | null {
  const { issuer_history: signed, iat } = claims;
  if (!isJsonObject(signed)) return null;
  if (!isJsonObject(issuer_history) || canonicalHash(issuer_history.snapshot ?? null) !== signed.hash)
    return 'The issuer-history snapshot does not have the signed hash.';
  const second = (time: Json | undefined) => Math.floor(Date.parse(String(time)) / 1000);
  if (typeof iat === 'number' && second(issuer_history.activated_at) > iat)
    return 'The receipt was signed before that issuer-history snapshot became current.';
  return null;
}

/** Explanatory members, which no signature covers. */
const words = ['as_of', 'lane', 'proves', 'does_not_prove', 'checks'];
const known = new Set([
  'schema',
  'receipt',
  'preimage',
  'keys',
  'issuer_history',
  'receipt_policy',
  'log',
  'transfer',
  ...words,
]);

const spoken = (document: JsonObject) => words.filter(name => document[name] !== undefined);
/** Unsigned evidence in the audit document of a refusal. A refusal names no snapshot, so no signed hash covers the history beside it. */
const evidence = (document: JsonObject) => ['issuer_history'].filter(name => document[name] !== undefined);
const strangers = (document: JsonObject) => Object.keys(document).filter(name => !known.has(name));

/** Whether the evidence in an audit document answers a question that the receipt alone leaves open. */
function isSettled(sentence: string, { log }: JsonObject): boolean {
  return (
    /issuer-history|receipt-policy-history/.test(sentence) ||
    (isJsonObject(log) && /still contains the receipt/.test(sentence))
  );
}

function anchorOpen({ log }: JsonObject): string[] {
  const anchor = isJsonObject(log) ? log.anchor : undefined;
  if (!isJsonObject(anchor)) return [];
  return [`Whether the anchored tree head is on Base: look up transaction ${String(anchor.tx_hash)} there.`];
}
