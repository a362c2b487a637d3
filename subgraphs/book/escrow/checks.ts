import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { ProofTier } from '../../../schema/escrow.ts';
import type { Evidence } from '../../../schema/evidence.ts';
import { commitmentIn, commitmentMaker } from '../../../schema/output-commitment.ts';
import type { Receipt } from '../../receipt/receipt/receipt.entity.ts';

/* Checks before a delivery is accepted or an escrow is released. The functions are pure: the caller reads the rows and receipts. */

export interface ReleaseCheck extends JsonObject {
  readonly check: string;
  readonly passed: boolean;
  readonly wanted: string;
  /** Null if there is no value. */
  readonly found: string | null;
}

/** Facts of a receipt that are checked. */
export interface ShownByReceipt {
  /** `sha256:<hex>` or `keccak256:<hex>`. Null if the receipt has no commitment to the output. */
  readonly commitment: string | null;
  /** Null if the transfer of the payment was not seen. */
  readonly tier: ProofTier | null;
}

export function receiptFacts(receipt: Pick<Receipt, 'payload' | 'proofOutcome' | 'model'>): ShownByReceipt {
  const payload = JSON.parse(receipt.payload) as JsonObject;
  const { status, kind, hash } = commitmentIn(payload.fulfillment);
  // A hash without the name of its function is not a commitment, because the function is never guessed.
  const committed = status === 'committed' && typeof kind === 'string' && typeof hash === 'string';
  const settled = receipt.proofOutcome === 'settled';
  const inferred = settled && committed && receipt.model !== '' && commitmentMaker(payload) === 'service';
  return {
    commitment: committed ? `${kind}:${hash}` : null,
    tier: inferred ? 'inference' : settled ? 'settlement' : null,
  };
}

export interface EscrowRequirements extends JsonObject {
  /** `sha256:<hex>` or `keccak256:<hex>`. */
  readonly output_hash: string | null;
  readonly proof_tier: ProofTier | null;
}

const collected = (check: string, evidence: Evidence | null): ReleaseCheck => ({
  check,
  passed: evidence === 'collected',
  wanted: 'collected',
  found: evidence,
});

const same = (check: string, wanted: string, found: string | null): ReleaseCheck => ({
  check,
  passed: wanted === found,
  wanted,
  found,
});

/** Checks before a ledger escrow is released. @param receipt null if the task has none */
export function ledgerChecks(
  { output_hash, proof_tier }: EscrowRequirements,
  evidence: Evidence | null,
  receipt: ShownByReceipt | null,
): readonly ReleaseCheck[] {
  const tier = receipt?.tier ?? null;
  return [
    collected('collected', evidence),
    ...(output_hash === null ? [] : [same('output_hash', output_hash, receipt?.commitment ?? null)]),
    ...(proof_tier === null
      ? []
      : [
          { check: 'proof_tier', passed: tier === proof_tier || tier === 'inference', wanted: proof_tier, found: tier },
        ]),
  ];
}

/** Terms that a delivery is checked against. */
interface A2aTerms {
  readonly openedAt: Date;
  readonly requiredOutputHash: string | null;
}

/** A delivery: the submitted commitment, and the named receipt. `receipt` is null if there is none. */
interface SubmittedDelivery {
  readonly output_commitment: string;
  readonly receipt: ShownByReceipt | null;
}

/** Checks before a delivery is accepted. A receipt that is older than the escrow was not made for it. */
export function submissionChecks(
  terms: A2aTerms,
  delivered: SubmittedDelivery,
  collected_at: Date,
): readonly ReleaseCheck[] {
  const { openedAt } = terms;
  return [
    {
      check: 'collected_at',
      passed: collected_at.getTime() >= openedAt.getTime(),
      wanted: openedAt.toISOString(),
      found: collected_at.toISOString(),
    },
    ...requiredChecks(terms, delivered),
    ...(terms.requiredOutputHash === null
      ? []
      : [same('output_commitment', terms.requiredOutputHash, delivered.output_commitment)]),
  ];
}

/** Checks before an escrow between two agents is released. @param own whether the receipt was first submitted for this escrow */
export function a2aChecks(
  terms: A2aTerms,
  delivered: SubmittedDelivery,
  { backing, own }: { readonly backing: Evidence | null; readonly own: boolean },
): readonly ReleaseCheck[] {
  const { output_commitment, receipt } = delivered;
  const standing = receipt === null ? null : 'receipt';
  return [
    collected('backing', backing),
    same('fulfillment_receipt', 'receipt', standing),
    same('fulfillment_of', 'this escrow', own ? 'this escrow' : 'another escrow'),
    same('output_commitment', output_commitment, receipt?.commitment ?? null),
    ...requiredChecks(terms, delivered),
  ];
}

function requiredChecks({ requiredOutputHash }: A2aTerms, { receipt }: SubmittedDelivery): readonly ReleaseCheck[] {
  return requiredOutputHash === null ? [] : [same('output_hash', requiredOutputHash, receipt?.commitment ?? null)];
}
