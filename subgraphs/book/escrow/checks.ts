import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import type { ProofTier } from '../../../schema/escrow.ts';
import type { Evidence } from '../../../schema/evidence.ts';
import type { Receipt } from '../../receipt/receipt/receipt.entity.ts';

/* What is looked at before an escrow is released. Pure: rows and receipts were read before. */

export interface ReleaseCheck extends JsonObject {
  readonly check: string;
  readonly passed: boolean;
  readonly wanted: string;
  /** Null where there is nothing to look at. */
  readonly found: string | null;
}

/** What of a receipt is looked at. */
export interface ShownByReceipt {
  /** As `sha256:<hex>`; null where the receipt commits to nothing. */
  readonly commitment: string | null;
  /** Null where its transfer was not seen. */
  readonly tier: ProofTier | null;
}

export function receiptFacts(receipt: Pick<Receipt, 'payload' | 'proofOutcome' | 'model'>): ShownByReceipt {
  const { fulfillment } = JSON.parse(receipt.payload) as { fulfillment?: Json };
  const said = isJsonObject(fulfillment) ? fulfillment.output_commitment : undefined;
  const { status, kind, hash } = isJsonObject(said) ? said : {};
  // A hash whose kind is not said is no commitment: the kind is never guessed.
  const committed = status === 'committed' && typeof kind === 'string' && typeof hash === 'string';
  const settled = receipt.proofOutcome === 'settled';
  const inferred = settled && committed && receipt.model !== '';
  return {
    commitment: committed ? `${kind}:${hash}` : null,
    tier: inferred ? 'inference' : settled ? 'settlement' : null,
  };
}

export interface Required extends JsonObject {
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

/** Null receipt: there is none of that task. */
export function ledgerChecks(
  { output_hash, proof_tier }: Required,
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

/** @param output_commitment as it was submitted */
export function a2aChecks(
  output_commitment: string,
  backing: Evidence | null,
  receipt: ShownByReceipt | null,
): readonly ReleaseCheck[] {
  const standing = receipt === null ? null : 'receipt';
  return [
    collected('backing', backing),
    same('fulfillment_receipt', 'receipt', standing),
    same('output_commitment', output_commitment, receipt?.commitment ?? null),
  ];
}
