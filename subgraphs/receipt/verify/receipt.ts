import { isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { commitmentIn, commitmentMaker } from '../../../schema/output-commitment.ts';
import { namesNoPayment, payloadVersionOf, settlementBasis } from '../../../schema/receipt-payload.ts';
import { addressesOf } from './addresses.ts';
import { tokenOf } from './issuer-document.ts';
import { always, type Coverage, isSameJson, unsignedIn } from './report.ts';
import type { Report } from './result.ts';
import { brokenBeside, copies, type OpenedReceipt, otherClaims, rules, signedPaymentRef } from './rules.ts';
import { type Jwks, parseJws } from './signature.ts';
import { type Check, type Invalid, judgeBy, malformedDocument, tokenFault } from './signed-document.ts';

export type Verification =
  | {
      readonly kind: 'valid';
      readonly claims: JsonObject;
      /** Id of the book. `legacy`: payload version 8 did not sign it yet. `none`: the receipt signs no book. */
      readonly claim_id: number | 'legacy' | 'none';
      readonly checks: readonly Check[];
      /** What the verification leaves open: unsigned members, a broken signature beside a valid one, and what was not checked. */
      readonly report: Report;
    }
  | Invalid;

export interface VerifyOptions {
  /** Base URL at which the receipt was read: its links may lead there as well as to the signed issuer. */
  readonly base_url?: string;
  /** Available histories and lists of revocations. A statement by a key that was revoked later counts if a later statement builds on it. */
  readonly histories?: readonly JsonObject[];
  /** True if the caller proves with the log that the receipt was signed before its key was revoked, as audit documents do. */
  readonly dated_by_log?: boolean;
}

/**
 * Verifies a public receipt against a published key set, offline. It cannot show whether USDC moved: look up
 * `payment_ref` on its network.
 */
export function verifyReceipt(document: JsonObject, jwks: Jwks, options: VerifyOptions = {}): Verification {
  try {
    const opened = open(document, jwks, options);
    if (opened === null) return tokenFault(tokenOf(document), NOT_A_RECEIPT);
    const judged = judgeBy(rules, opened);
    if (judged.kind === 'invalid') return judged;
    const { claims } = opened;
    return { kind: 'valid', claims, claim_id: claimId(claims), checks: judged.checks, report: reportOn(opened) };
  } catch (fault) {
    // A rule throws only for a value without a canonical form (RFC 8785): a lone surrogate, or a number beyond IEEE doubles.
    return malformedDocument(`The receipt has no canonical form: ${String(fault)}`);
  }
}

const NOT_A_RECEIPT = 'This is not a receipt: payload or issuer_signature.jws is missing.';

function open(document: JsonObject, jwks: Jwks, { base_url, dated_by_log }: VerifyOptions): OpenedReceipt | null {
  const { payload } = document;
  const jws = parseJws(tokenOf(document));
  if (!isJsonObject(payload) || jws === null) return null;
  const { claims } = jws;
  const addresses = addressesOf(claims.iss, base_url, jwks);
  return { document, payload, jws, claims, jwks, addresses, ...(dated_by_log && { dated_by_log }) };
}

function claimId(claims: JsonObject): number | 'legacy' | 'none' {
  if (typeof claims.claim_id === 'number') return claims.claim_id;
  return payloadVersionOf(claims)?.legacy ? 'legacy' : 'none';
}

/** Members that repeat a signed fact, under its own name or another one. Older payload versions sign fewer of these facts. */
const copied: Coverage<OpenedReceipt> = Object.fromEntries(
  copies.map(({ name, signed }) => [
    name,
    ({ document, claims }: OpenedReceipt) => isSameJson(document[name], signed(claims)),
  ]),
);

const coverage: Coverage<OpenedReceipt> = {
  ...copied,
  payload: always,
  // The rules always recompute this hash from the payload.
  payload_hash: always,
  // The signed tree_head_hash is the hash of these two members and tree_size.
  log_id: always,
  root_hash: always,
  // Receipts signed this member before receipt policy 4. Since then it is only an unsigned member of the lane.
  settled_by: ({ document, claims }) => isSameJson(document.settled_by, claims.settled_by),
  // If the payment was seen, waived or only reported, the signed claims allow only one outcome.
  proof_outcome: ({ claims }) => settlementBasis(claims) === 'observed_transfer' || namesNoPayment(claims),
  profile: ({ document, claims }) => isSameJson(document.profile, claims.profile),
  // The rules check that these links lead to the signed issuer and name the signed task.
  verify_url: always,
  'verification.jwks_uri': always,
  'verification.issuer_history_uri': always,
  'verification.receipt_policy_uri': always,
  'verification.preimage_uri': always,
  'issuer_signature.jws': always,
  'issuer_signature.kid': always,
  'issuer_signature.value': always,
  'issuer_signature.alg': always,
  'signature.alg': always,
  'signature.kid': always,
  'signature.value': always,
  'co_signature.alg': always,
  'co_signature.address': always,
  'co_signature.value': always,
};

const lane = new Set([
  'settlement_status',
  'ingress_receipt',
  'omission_rule',
  'answered_again',
  'rerun',
  'chain_ended',
  'verification.how',
  'anchor_changed_since_binding',
  'freeze',
  'unverifiable_from_registry',
  'local_check',
  'binding',
]);

/** Coverage of the members that repeat a signed claim under its own name. */
const repeated = ({ claims }: OpenedReceipt): Coverage<OpenedReceipt> =>
  Object.fromEntries(otherClaims(claims).map(([name]) => [name, always]));

/** What a receipt that has passed every rule leaves open. */
function reportOn(opened: OpenedReceipt): Report {
  return {
    unsigned: unsignedIn(opened.document, opened, { coverage: { ...coverage, ...repeated(opened) }, lane }),
    broken: brokenBeside(opened),
    unchecked: uncheckedOf(opened),
  };
}

function uncheckedOf({ document, claims, payload }: OpenedReceipt): string[] {
  const ref = signedPaymentRef(claims);
  const { hash: output } = commitmentIn(payload.fulfillment);
  const maker = commitmentMaker(payload);
  const sentences: readonly [applies: boolean, sentence: string][] = [
    [ref !== undefined, `Whether USDC moved: look up ${String(ref)} on its network.`],
    [
      claims.tree_head_hash !== undefined,
      'Whether the log still contains the receipt: request its inclusion proof (inclusionProof), and check it against a signed tree head.',
    ],
    [isJsonObject(claims.issuer_history), `${versionOf(claims.issuer_history, 'issuer-history')}`],
    [isJsonObject(claims.receipt_policy), `${versionOf(claims.receipt_policy, 'receipt-policy-history')}`],
    [
      claims.reported !== undefined,
      'Whether the report is true: the issuer signs only what was reported, and by whom.',
    ],
    [
      claims.request_hash !== undefined,
      'Which request was paid for: compute request_hash from the request and its salt, and compare.',
    ],
    [
      typeof output === 'string',
      'Whether an answer is the one that the receipt commits to: hash it by the rule in the receipt policy, and compare.',
    ],
    [
      maker === 'winner' || maker === 'reporter',
      `What was delivered: the ${maker} made the commitment, and the issuer has not seen the output.`,
    ],
    [claims.book_seq !== undefined, `Whether row ${String(claims.book_seq)} of the book agrees with the receipt.`],
    [claims.session_expiry !== undefined, 'Whether the session was already revoked when the receipt was signed.'],
    [document.signature === undefined, 'The primary signature (Ed25519): the receipt has none.'],
    [document.co_signature === undefined, 'The co-signature (EIP-191): the receipt has none.'],
    [
      isJsonObject(document.binding) && document.binding.in_proof === true,
      'Whether a proof system on the chain has checked the commitment, as binding.in_proof says: that member is not signed, and cannot be checked here.',
    ],
  ];
  return sentences.filter(([applies]) => applies).map(([, sentence]) => sentence);
}

function versionOf(ref: JsonObject[string] | undefined, name: string): string {
  const { version, hash } = isJsonObject(ref) ? ref : {};
  return `Whether version ${String(version)} of /.well-known/${name}.json has the signed hash, ${String(hash)}.`;
}
