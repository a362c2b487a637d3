import { bytesOf, canonicalText, fromBase64url, hashOfJson, hexOf, isSameJson, sha256Of } from './bytes.js';
import { receiptFacts } from './facts.js';
import { isInItsTime, revocationOf } from './key-times.js';
import { logChecks } from './log-checks.js';
import { runAll } from './run.js';
import { isEs256, isIssued, isSignedByEd25519, openJws } from './signatures.js';

/** Where in the claims the signed fact of a copy stands. @type {Record<string, (claims: any) => unknown>} */
const copies = {
  task_id: claims => claims.jti,
  hub: claims => claims.hub,
  model: claims => claims.model,
  amount: claims => (claims.payload_version === 4 ? claims.observed_transfer?.amount : claims.payment?.gross_amount),
  payer_wallet: claims => claims.caller_binding?.payer_wallet,
  payload_version: claims => claims.payload_version,
  payload_hash: claims => claims.payload_hash,
  leaf_index: claims => claims.leaf_index,
  tree_size: claims => claims.tree_size,
  tree_head_hash: claims => claims.tree_head_hash,
  book_seq: claims => claims.book_seq,
  caller_binding: claims => claims.caller_binding,
  claim_id: claims => claims.claim_id,
  book_id: claims => claims.book_id,
  observed_transfer: claims => claims.observed_transfer,
  payer_proven: claims => claims.payer_proven,
  waived_by: claims => claims.waived_by,
  reported: claims => claims.reported,
  vendor_blind: claims => claims.vendor_blind,
};

/** Versions before 11 sign fewer facts: what they do not sign is left open, and cannot disagree. @param {any} claims */
const isEarly = ({ payload_version: version }) => version >= 8 && version < 11;
/** @param {any} claims @param {unknown} signed */
const isUnsigned = (claims, signed) => signed === undefined && claims.payload_version < 10 && isEarly(claims);
/** Early versions do not sign it: then it is what the payload has. @param {any} receipt @param {any} claims */
const hashSigned = (receipt, claims) => claims.payload_hash ?? (isEarly(claims) ? receipt.payload_hash : undefined);

/** Version 4 signs it beside the book: no payment of ours paid. @param {any} claims */
const paymentRefOf = claims => (claims.payload_version === 4 ? claims.payment_ref : claims.payment?.ref) ?? null;

/** Whether the transfer to look up is the one that was signed. @param {any} transfer @param {any} claims */
function isTransferOf(transfer, { payment, observed_transfer }) {
  const signed = payment ?? observed_transfer;
  if (!signed) return transfer === undefined;
  const { payer, payee, contract, amount } = transfer;
  return isSameJson(
    [payer, payee, contract, amount],
    [signed.payer, signed.pay_to, signed.asset, signed.gross_amount ?? signed.amount],
  );
}

/** @type {readonly import('./run.js').Check[]} */
const checks = [
  {
    name: 'Issuer’s signature',
    says: 'The holder of the issuer’s key signed these claims (ES256).',
    run: ({ audit, jws }) => isIssued(audit.keys, jws),
  },
  {
    name: 'Payload',
    says: 'The payload is the one whose hash was signed (SHA-256), and says what the signed claims say.',
    run: async ({ audit: { preimage, receipt }, claims }) => {
      const { payload } = receipt;
      const claimed = Object.keys(payload).every(name => isSameJson(payload[name], claims[name]));
      const hash = hexOf(await sha256Of(bytesOf(preimage)));
      return claimed && preimage === canonicalText(payload) && hash === hashSigned(receipt, claims);
    },
  },
  {
    name: 'Copies',
    says: 'Whatever the receipt repeats beside its signature is what was signed.',
    run: ({ audit: { receipt, transfer }, claims }) =>
      Object.entries(copies).every(
        ([name, signed]) => isSameJson(receipt[name], signed(claims)) || isUnsigned(claims, signed(claims)),
      ) &&
      isSameJson(receipt.payment_ref ?? null, paymentRefOf(claims)) &&
      isTransferOf(transfer, claims) &&
      (claims.profile === undefined || receipt.profile === claims.profile),
  },
  {
    name: 'This page',
    says: 'What stands above is what was signed.',
    run: ({ shown, claims }) => shown === null || isSameJson(shown, shownBy(receiptFacts(claims))),
  },
  {
    name: 'Second signature',
    says: 'The primary signature (Ed25519) signs the payload’s hash.',
    run: ({ audit: { keys, receipt }, claims }) =>
      receipt.signature === undefined && isEarly(claims)
        ? null
        : isSignedByEd25519(keys, receipt.signature, hashSigned(receipt, claims)),
  },
  {
    name: 'Raw signature',
    says: 'The raw ES256 value signs the canonical payload.',
    run: ({ audit: { keys, receipt, preimage }, claims, jws }) => {
      const { kid, value } = receipt.issuer_signature;
      if (value === undefined && isEarly(claims)) return null;
      return kid === jws.header.kid && isEs256(keys, kid, preimage, fromBase64url(value));
    },
  },
  {
    name: 'Tree head',
    says: 'The signed head of the log ends with this receipt.',
    run: async ({ audit: { receipt }, claims }) => {
      if (claims.tree_head_hash === undefined && isEarly(claims)) return null;
      const { log_id, root_hash } = receipt;
      const head = await hashOfJson({ log_id, tree_size: claims.tree_size, root_hash });
      return claims.tree_size === claims.leaf_index + 1 && head === claims.tree_head_hash;
    },
  },
  {
    name: 'Keys of their time',
    says: 'The issuer’s key history that it signs is this one, names the key that signed, and held by then.',
    run: async ({ audit: { issuer_history: history, receipt_policy: policy }, claims, jws }) => {
      if (claims.issuer_history === undefined && isEarly(claims)) return null;
      const named = history.snapshot.entries.some((/** @type {any} */ { kid }) => kid === jws.header.kid);
      const signed = [claims.issuer_history.hash, claims.receipt_policy?.hash];
      const hashes = [await hashOfJson(history.snapshot), signed[1] && (await hashOfJson(policy.policy))];
      const in_time = Math.floor(Date.parse(history.activated_at) / 1000) <= claims.iat;
      return named && in_time && isSameJson(hashes, signed);
    },
  },
  {
    name: 'Key in force',
    says: 'The key that signed was the issuer’s by then: activated, and not yet given way to another.',
    run: ({ audit, jws }) => isInItsTime(audit.keys, jws),
  },
  {
    name: 'Key not revoked',
    says: 'The key that signed was not revoked, or this stood in the log before that.',
    run: ({ audit, jws, claims }) => {
      const revoked = revocationOf(audit.keys, jws);
      // Whether it stands there at all, and under a checkpoint by another key, are checks of their own.
      return revoked === null || (audit.log !== undefined && claims.leaf_index < revoked.tree_size);
    },
  },
  ...logChecks,
  {
    name: 'Co-signature',
    says: 'The co-signature (secp256k1, EIP-191): browsers have no such curve; npm run verify checks it.',
    run: () => null,
  },
  {
    name: 'Transfer on the chain',
    says: 'Whether money moved the chain alone can say: look the transaction up.',
    run: ({ claims }) => (claims.payment ? null : true),
  },
];

/** @param {Record<string, string | null>} facts @returns {Record<string, string>} */
export const shownBy = facts =>
  Object.fromEntries(Object.entries(facts).flatMap(([name, text]) => (text === null ? [] : [[name, text]])));

/**
 * Checks an audit document (svc402.receipt_audit.v1) by what it brings itself.
 * @param {any} audit
 * @param {Record<string, string> | null} shown the facts as a page shows them, by name; null where there is no page
 */
export async function checkReceipt(audit, shown) {
  const jws = openJws(audit?.receipt?.issuer_signature?.jws);
  return runAll(checks, { audit, shown, jws, claims: jws?.claims ?? {} });
}

export const receiptCheckNames = checks.map(({ name, says }) => ({ name, says }));
