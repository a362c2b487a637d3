/** EIP-1559 fees of one transaction, per unit of gas. */
export interface Fees {
  readonly max_fee_wei: bigint;
  readonly priority_fee_wei: bigint;
}

export type FeeQuote = { readonly kind: 'priced'; readonly fees: Fees } | { readonly kind: 'too_high' };

export interface FeeMarket {
  readonly base_fee_wei: bigint;
  readonly priority_fee_wei: bigint;
}

/**
 * Limit for the fee of a replacement, per unit of gas. Limits per payment do not apply to a replacement, because without it the
 * nonce and all later ones would be blocked. A node that reports false fees can make us pay no more than this. Base has not
 * required as much for any long time.
 */
export const REPLACEMENT_CEILING_WEI = 100_000_000_000n;

/**
 * Factor by which the base fee may rise before our maximum is too low. It takes at least six full blocks to double (12.5 % each).
 */
const BASE_FEE_HEADROOM = 2n;

/** Fees for a transaction that is sent now, never above `ceiling_wei`. */
export function feesNow({ base_fee_wei, priority_fee_wei }: FeeMarket, ceiling_wei: bigint): FeeQuote {
  if (base_fee_wei + priority_fee_wei > ceiling_wei) return { kind: 'too_high' };
  const max_fee_wei = smaller(base_fee_wei * BASE_FEE_HEADROOM + priority_fee_wei, ceiling_wei);
  return { kind: 'priced', fees: { max_fee_wei, priority_fee_wei } };
}

/**
 * Lowest fee for a replacement. Nodes replace a transaction of the same nonce only if both fees rise by a tenth; an eighth
 * satisfies all nodes.
 */
function replacementFee(fee_wei: bigint): bigint {
  return fee_wei + fee_wei / 8n + 1n;
}

/** Fees for the replacement of a stuck transaction: the current fees, but no less than nodes require for a replacement. */
export function replacementFees(previous: Fees, market: FeeMarket, ceiling_wei: bigint): FeeQuote {
  const now = feesNow(market, ceiling_wei);
  if (now.kind !== 'priced') return now;
  const max_fee_wei = larger(replacementFee(previous.max_fee_wei), now.fees.max_fee_wei);
  const priority_fee_wei = larger(replacementFee(previous.priority_fee_wei), now.fees.priority_fee_wei);
  if (max_fee_wei > ceiling_wei) return { kind: 'too_high' };
  return {
    kind: 'priced',
    fees: { max_fee_wei, priority_fee_wei: smaller(priority_fee_wei, max_fee_wei) },
  };
}

/** Whether a transaction's fee is below the current fees, so that it will not be mined without a replacement. */
export function outbid(sent: Fees, market: FeeMarket): boolean {
  return sent.max_fee_wei < market.base_fee_wei + market.priority_fee_wei;
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
