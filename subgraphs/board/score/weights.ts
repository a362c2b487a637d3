import type { JsonObject } from '../../../schema/canonical-json.ts';
import { limits } from '../../../schema/limits.ts';

/** The weights of the rule, published with each score. Amounts are digits of atomic USDC. */
export interface ScoreWeights extends JsonObject {
  /** Part of a row's weight that counts in favour of the endpoint, by outcome, in basis points. */
  readonly outcome_bp: {
    readonly success: number;
    readonly price_jump: number;
    readonly error: number;
    readonly double_charge: number;
  };
  /** Least amount of a row that has weight. A smaller one would cost little more than its stamp. */
  readonly row_amount_min: string;
  /** Maximum weight of one cluster. */
  readonly cluster_amount_max: string;
  /** Prior weight of an endpoint without reports, so that the first row does not decide alone. */
  readonly prior_amount: string;
  readonly prior_bp: number;
  /**
   * Largest number of wallets that a funder may have sent to. A funder of more wallets is taken for an exchange or a faucet, and merges no
   * payers.
   */
  readonly funder_wallets_max: number;
  /**
   * Least part of what a wallet received that makes a sender its funder, in basis points, so that dust sent to strangers merges no payers.
   */
  readonly funder_part_min_bp: number;
  /**
   * Least part of the wallet's largest payment at the endpoint that makes a sender its funder, in basis points. `funder_amount_min` is the
   * least amount.
   */
  readonly funder_paid_part_min_bp: number;
  readonly funder_amount_min: string;
  /** Change of the score, in basis points, whose cost is stated. */
  readonly move_bp: number;
  /** Cost of a post's stamp, in addition to the payment that it cites. */
  readonly stamp_amount: string;
}

export const scoreWeights: ScoreWeights = {
  outcome_bp: { success: 10_000, price_jump: 2_500, error: 0, double_charge: 0 },
  row_amount_min: String(limits.stamp_price_atomic),
  cluster_amount_max: '1000000',
  prior_amount: '100000',
  prior_bp: 5_000,
  funder_wallets_max: 50,
  funder_part_min_bp: 1_000,
  funder_paid_part_min_bp: 1_000,
  funder_amount_min: String(limits.stamp_price_atomic),
  move_bp: 1_000,
  stamp_amount: String(limits.stamp_price_atomic),
};
