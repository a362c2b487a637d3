/** EIP-1559 fees of one transaction, per gas. */
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
 * Limit for a replacement. Limits per call do not apply to it, because without it the nonce and all later ones would be blocked.
 * This is the most that a node with false fees can make us pay; it is more than any block of Base has asked for long.
 */
export const REPLACEMENT_CEILING_WEI = 100_000_000_000n;

/** Factor by which the base fee may rise before ours is outbid: it doubles in no less than six full blocks (12.5 % each). */
const BASE_FEE_HEADROOM = 2n;

/** Fees for a transaction that is sent now, never above the ceiling per unit of gas. */
export function feesNow({ base_fee_wei, priority_fee_wei }: FeeMarket, ceiling_wei: bigint): FeeQuote {
  if (base_fee_wei + priority_fee_wei > ceiling_wei) return { kind: 'too_high' };
  const max_fee_wei = smaller(base_fee_wei * BASE_FEE_HEADROOM + priority_fee_wei, ceiling_wei);
  return { kind: 'priced', fees: { max_fee_wei, priority_fee_wei } };
}

/** Nodes replace a transaction of the same nonce only if both fees rise by a tenth; an eighth satisfies all. */
function replacementFee(fee_wei: bigint): bigint {
  return fee_wei + fee_wei / 8n + 1n;
}

/** Fees that replace a stuck transaction: the current ones, but no less than nodes require for a replacement. */
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

/** A transaction whose fee is below the market will not be mined as it is. */
export function outbid(sent: Fees, market: FeeMarket): boolean {
  return sent.max_fee_wei < market.base_fee_wei + market.priority_fee_wei;
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
