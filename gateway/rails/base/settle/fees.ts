/** EIP-1559 fees of one transaction, per gas. */
export interface Fees {
  readonly max_fee_wei: bigint;
  readonly priority_fee_wei: bigint;
}

export type Priced = { readonly kind: 'priced'; readonly fees: Fees } | { readonly kind: 'too_high' };

export interface FeeMarket {
  readonly base_fee_wei: bigint;
  readonly priority_fee_wei: bigint;
}

/**
 * Of a replacement. What it may cost a call is not asked: without it the nonce would be blocked, and all behind it. This
 * alone is what a node that lies about the market can make us pay: more than any block of Base has asked for long.
 */
export const REPLACEMENT_CEILING_WEI = 100_000_000_000n;

/** What a block must ask for before our fee is outbid: it doubles in no less than six full blocks (12.5 % each). */
const BASE_FEE_HEADROOM = 2n;

/** Fees for a transaction sent now; never above the ceiling, which bounds what one unit of gas may cost us. */
export function feesNow({ base_fee_wei, priority_fee_wei }: FeeMarket, ceiling_wei: bigint): Priced {
  if (base_fee_wei + priority_fee_wei > ceiling_wei) return { kind: 'too_high' };
  const max_fee_wei = smaller(base_fee_wei * BASE_FEE_HEADROOM + priority_fee_wei, ceiling_wei);
  return { kind: 'priced', fees: { max_fee_wei, priority_fee_wei } };
}

/** Nodes replace a transaction of the same nonce only where both fees rise by a tenth; an eighth is safe with all. */
function raised(fee_wei: bigint): bigint {
  return fee_wei + fee_wei / 8n + 1n;
}

/** Fees of a replacement for a stuck transaction: what is asked now, and no less than nodes insist on. */
export function feesBumped(previous: Fees, market: FeeMarket, ceiling_wei: bigint): Priced {
  const now = feesNow(market, ceiling_wei);
  if (now.kind !== 'priced') return now;
  const max_fee_wei = larger(raised(previous.max_fee_wei), now.fees.max_fee_wei);
  const priority_fee_wei = larger(raised(previous.priority_fee_wei), now.fees.priority_fee_wei);
  if (max_fee_wei > ceiling_wei) return { kind: 'too_high' };
  return {
    kind: 'priced',
    fees: { max_fee_wei, priority_fee_wei: smaller(priority_fee_wei, max_fee_wei) },
  };
}

/** A transaction whose fee the market has left behind will not be mined as it is. */
export function outbid(sent: Fees, market: FeeMarket): boolean {
  return sent.max_fee_wei < market.base_fee_wei + market.priority_fee_wei;
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
