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
import { logRules, type OpenedAudit } from './audit-log.ts';
import { revocationOf } from './key-times.ts';
import { type Verification, type VerifyOptions, verifyReceipt } from './receipt.ts';
import { verifyRefusal } from './refusal.ts';
import { type DocumentVerification, same } from './report.ts';
import { type Jwks, parseJws, verifyEs256 } from './signature.ts';
import { judgeBy, malformedDocument, type Rule, unless } from './signed.ts';

/** Whether a document says that it is all that an auditor needs of one receipt. */
export function isReceiptAudit(document: JsonObject): boolean {
  return document.schema === documents.receipt_audit;
}

export function isRefusalAudit(document: JsonObject): boolean {
  return document.schema === documents.refusal_audit;
}

/** An audit document brings its keys along, so that nothing has to be fetched; null where a document does not. */
export function keysBrought(document: JsonObject): Jwks | null {
  const audits = isReceiptAudit(document) || isRefusalAudit(document);
  return audits && isJsonObject(document.keys) ? document.keys : null;
}

/**
 * Verifies an audit document offline: its receipt first, then the evidence beside it. Which keys to believe is the caller's
 * to say: those of the document itself prove only that it agrees with itself.
 */
export function verifyReceiptAudit(document: JsonObject, jwks: Jwks, options: VerifyOptions = {}): Verification {
  const { receipt } = document;
  if (!isJsonObject(receipt)) return malformedDocument('This is no audit document: receipt is missing.');
  const base_url = options.base_url ?? movedTo(document, jwks);
  const verified = verifyReceipt(receipt, jwks, { ...(base_url !== undefined && { base_url }), dated_by_log: true });
  if (verified.kind === 'invalid') return verified;
  try {
    const { claims, checks, report } = verified;
    const judged = judgeBy(rules, { document, receipt, claims, jwks });
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
    // Only text without a canonical form gets here.
    return malformedDocument(`The audit document has no canonical form: ${String(fault)}`);
  }
}

/** Where the issuer is now, as it signs the newest head: the links of a receipt that it signed elsewhere may lead there. */
function movedTo({ log }: JsonObject, jwks: Jwks): string | undefined {
  const head = isJsonObject(log) && isJsonObject(log.head) ? parseJws(log.head.jws) : null;
  const signed = head !== null && verifyEs256(jwks, head.header.kid, head.input, head.signature);
  return signed && typeof head.claims.iss === 'string' ? head.claims.iss : undefined;
}

/** The same of a refusal. */
export function verifyRefusalAudit(
  document: JsonObject,
  jwks: Jwks,
  options: VerifyOptions = {},
): DocumentVerification {
  const { refusal, preimage } = document;
  if (!isJsonObject(refusal)) return malformedDocument('This is no audit document: refusal is missing.');
  const verified = verifyRefusal(refusal, jwks, options);
  if (verified.kind === 'invalid') return verified;
  const { iss: _iss, iat: _iat, jti: _jti, ...payload } = verified.claims;
  const check = { code: 'preimage_differs', sentence: 'The preimage is the canonical form of what was signed.' };
  if (preimage === canonicalJson(payload)) {
    const { lane, unknown } = verified.report.unsigned;
    const strange = Object.keys(document).filter(name => !known.has(name) && name !== 'refusal');
    const unsigned = { lane: [...lane, ...spoken(document), ...evidence(document)], unknown: [...unknown, ...strange] };
    return { ...verified, checks: [...verified.checks, check], report: { ...verified.report, unsigned } };
  }
  return { kind: 'invalid', ...check, sentence: 'The preimage is not what was signed.', checks: verified.checks };
}

/** In order: a later rule may rely on all before it. */
const rules: readonly Rule<OpenedAudit>[] = [
  {
    code: 'preimage_differs',
    says: 'The preimage is the text whose hash was signed.',
    fault: ({ document: { preimage }, receipt, claims }) =>
      unless(
        typeof preimage === 'string' &&
          preimage === canonicalJson(receipt.payload ?? null) &&
          (claims.payload_hash === undefined || sha256Hex(preimage) === claims.payload_hash),
        'The preimage is not the text whose hash was signed.',
      ),
  },
  {
    code: 'issuer_history_differs',
    says: 'The snapshot of the issuer history is the one that was signed, and held when this was signed.',
    fault: opened => historyFault(opened),
  },
  {
    code: 'receipt_policy_differs',
    says: 'The receipt policy is the one that was signed.',
    fault: ({ document: { receipt_policy: shown }, claims: { receipt_policy: signed } }) =>
      unless(
        !isJsonObject(signed) || (isJsonObject(shown) && canonicalHash(shown.policy ?? null) === signed.hash),
        'The receipt policy is not the one that was signed.',
      ),
  },
  ...logRules,
  {
    code: 'key_revoked',
    says: 'Its key was not revoked, or the log held it before that, by a checkpoint that a key in force has signed.',
    fault: opened => revocationFault(opened),
  },
  {
    code: 'transfer_differs',
    says: 'The transfer to look up is the one that was signed.',
    fault: ({ document: { transfer = null }, receipt, claims }) =>
      unless(
        same(transfer, lookUpOf(claims, receipt.ingress_receipt)),
        'The transfer to look up is not the one that was signed.',
      ),
  },
  {
    code: 'lane_differs',
    says: 'The lane says what the receipt says.',
    fault: ({ document: { lane }, receipt }) => {
      const members = isJsonObject(lane) ? lane : {};
      const other = Object.keys(members).find(name => !same(members[name] ?? null, receipt[name] ?? null));
      return other === undefined ? null : `lane.${other} is not what the receipt says.`;
    },
  },
];

/**
 * By the log, whose order is the order of time: the checkpoint was found to be signed by a key that is not revoked, and the
 * leaf to stand under it. What the receipt says of its own time is then worth nothing.
 */
function revocationFault({
  document: { log },
  receipt: { issuer_signature },
  claims,
  jwks,
}: OpenedAudit): string | null {
  const revoked = revocationOf(jwks, isJsonObject(issuer_signature) ? issuer_signature.kid : undefined);
  if (revoked === null) return null;
  if (!isJsonObject(log)) return `Its key was revoked at ${revoked.at}, and no log says that it was signed before.`;
  return unless(
    Number(claims.leaf_index) < revoked.tree_size,
    `Its key was revoked at ${revoked.at}, and it came into the log when others may have held that key.`,
  );
}

function historyFault({ document: { issuer_history: shown }, claims }: OpenedAudit): string | null {
  const { issuer_history: signed, iat } = claims;
  if (!isJsonObject(signed)) return null;
  if (!isJsonObject(shown) || canonicalHash(shown.snapshot ?? null) !== signed.hash)
    return 'The snapshot of the issuer history is not the one that was signed.';
  const second = (time: Json | undefined) => Math.floor(Date.parse(String(time)) / 1000);
  if (typeof iat === 'number' && second(shown.activated_at) > iat)
    return 'It was signed before that snapshot of the issuer history held.';
  return null;
}

/** What is said of it in words, or beside it: nobody signs that. */
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
/** Of a refusal audit: its refusal names no snapshot, so that nothing holds the history beside it to what was signed. */
const evidence = (document: JsonObject) => ['issuer_history'].filter(name => document[name] !== undefined);
const strangers = (document: JsonObject) => Object.keys(document).filter(name => !known.has(name));

/** What a receipt alone leaves open, and the evidence beside it has answered. */
function isSettled(sentence: string, { log }: JsonObject): boolean {
  return (
    /issuer-history|receipt-policy-history/.test(sentence) || (isJsonObject(log) && /still holds it/.test(sentence))
  );
}

function anchorOpen({ log }: JsonObject): string[] {
  const anchor = isJsonObject(log) ? log.anchor : undefined;
  if (!isJsonObject(anchor)) return [];
  return [`Whether the anchored head stands on Base: look up ${String(anchor.tx_hash)} there.`];
}
