import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import { walletClaimText } from '../../../schema/inflow-claim.ts';
import { eip191Hash, recoverAddress } from '../../../schema/secp256k1.ts';
import { type OpenedDocument, verifyIssuerDocument } from './issuer-document.ts';
import type { DocumentVerification } from './report.ts';
import type { Report } from './result.ts';
import type { Jwks } from './signature.ts';
import { type Rule, unless } from './signed-document.ts';

/**
 * Verifies the claim of an inflow row against a published key set, offline. It proves what was claimed, who signed it and when. A claim has
 * no payment, so it does not prove that the money exists.
 */
export function verifyInflowClaim(
  document: JsonObject,
  jwks: Jwks,
  options: { readonly base_url?: string } = {},
): DocumentVerification {
  return verifyIssuerDocument(document, jwks, options, { name: 'claim of an inflow', rules, reportOn });
}

/** Rules in the order in which they are checked: each may rely on all before it. */
const rules: readonly Rule<OpenedDocument>[] = [
  {
    code: 'not_an_inflow_claim',
    says: 'The signed claims allocate an amount to a bucket, and name no payment.',
    fault: ({ claims }) =>
      unless(
        claims.schema === documents.inflow_claim &&
          typeof claims.agent_id === 'number' &&
          [claims.task_id, claims.bucket, claims.claimed_at].every(it => typeof it === 'string') &&
          /^\d+$/.test(String(claims.allocation)) &&
          !('payment' in claims || 'payment_ref' in claims),
        'The signed claims are not a claim of an inflow.',
      ),
  },
  {
    code: 'wallet_claim_differs',
    says: 'The members of wallet_claim have the values that the issuer signed.',
    fault: ({ claims }) => walletFault(claims),
  },
];

/** The fault of `wallet_claim`; null if there is none. In a correction its task_id names the corrected row, in an inflow the row itself. */
function walletFault(claims: JsonObject): string | null {
  const { wallet_claim } = claims;
  if (wallet_claim === undefined) return null;
  if (!isJsonObject(wallet_claim)) return 'wallet_claim is not an object.';
  const { signature: _, signed_at: __, task_id, ...members } = wallet_claim;
  const named = claims.corrects ?? claims.task_id;
  const other = Object.keys(members).find(name => canonicalJson(members[name] ?? null) !== json(claims[name]));
  if (other !== undefined) return `wallet_claim.${other} is not what was signed.`;
  return unless(task_id === undefined || task_id === named, 'wallet_claim.task_id is not what was signed.');
}

const json = (value: Json | undefined) => canonicalJson(value ?? null);

/** What a claim that has passed every rule leaves open. */
function reportOn(claims: JsonObject): Report {
  return {
    unsigned: { lane: [], unknown: [] },
    broken: [],
    unchecked: [
      'Whether the money exists: this is only a claim, without a payment.',
      'Whether the claim was corrected later: see its row in the book.',
      ...(claims.wallet_claim === undefined || isSignedByKey(claims)
        ? []
        : [`Whether the contract at ${String(claims.wallet)} accepts the signature: call it (ERC-1271).`]),
    ],
  };
}

/**
 * Whether the key of the wallet made the signature (EIP-191). The signature of a contract cannot be checked offline: the issuer states that
 * the contract accepted it.
 */
function isSignedByKey({ wallet, wallet_claim, corrects }: JsonObject): boolean {
  if (!isJsonObject(wallet_claim)) return false;
  const parts = /^0x([0-9a-f]{128})(1b|1c)$/i.exec(String(wallet_claim.signature));
  if (parts === null) return false;
  const [, compact = '', v = ''] = parts;
  const text = walletClaimText(corrects === undefined ? 'inflow' : 'correction', wallet_claim);
  const address = recoverAddress(eip191Hash(text), Buffer.from(compact, 'hex'), v.toLowerCase() === '1b' ? 0 : 1);
  return address !== null && address.toLowerCase() === String(wallet).toLowerCase();
}
