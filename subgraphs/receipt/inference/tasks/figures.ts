import { atomicAmount } from '../../../../schema/amount.ts';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { limits } from '../../../../schema/limits.ts';
import { iso } from '../../../clock.ts';
import type { Candidate } from '../catalogue.ts';

/** Where a task would go, and what a call costs us there; null where nobody has said. */
export interface PricedRoute {
  readonly route: Candidate;
  readonly price_atomic: number | null;
}

export type PaymentRail = 'usdc' | 'tfuel';

/** What a task is worth and where that goes, as it is kept: amounts are digits of atomic USDC. */
export type TaskFigures = {
  readonly payment_rail: PaymentRail;
  readonly gross_amount: string;
  readonly accounting: JsonObject;
  /** Of the legacy rail alone; null on USDC. */
  readonly fee: { readonly fee_amount: string; readonly net_amount: string; readonly fee_bps: number } | null;
};

const BPS = 10_000n;

/** Neither rail changes how we are paid: in USDC, the whole price, to one payee. */
export function figuresOf(rail: PaymentRail, priced: PricedRoute, now_ms: number): TaskFigures {
  const gross = limits.call_price_atomic;
  return {
    payment_rail: rail,
    gross_amount: gross.toString(),
    accounting: accountingOf(priced, gross, now_ms),
    fee: rail === 'tfuel' ? feeOf(gross) : null,
  };
}

function feeOf(gross: bigint): NonNullable<TaskFigures['fee']> {
  const fee = atomicAmount((gross * BigInt(limits.tfuel_fee_bps)) / BPS);
  return { fee_amount: fee.toString(), net_amount: (gross - fee).toString(), fee_bps: limits.tfuel_fee_bps };
}

/**
 * Ours alone: what of the settled amount goes to a provider, and what is left. Nothing has been put to one yet, so the actual
 * cost is none; the mark is what the route costs now, and none where nobody has priced it.
 */
function accountingOf({ route, price_atomic }: PricedRoute, gross: bigint, now_ms: number): JsonObject {
  const usd_mark = price_atomic ?? 0;
  return {
    scope: 'internal',
    unit: 'usdc_atomic',
    on_chain_deduction: false,
    route: { ...route },
    pricing: price_atomic === null ? 'unpriced' : 'live',
    provider_cogs: { actual: 0, usd_mark },
    route_margin: (gross - BigInt(usd_mark)).toString(),
    priced_at: iso(now_ms),
  };
}
