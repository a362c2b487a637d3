import type pg from 'pg';
import type { AtomicAmount } from '../../../../schema/amount.ts';
import type { Tx } from '../../../database.ts';

/**
 * Maximum fee of a settlement, in atomic USDC. It counts for the day on which the settlement is committed (UTC, by the database's clock):
 * the maximum until the settlement is seen mined, then the fee that was paid. The row of the day is locked after all other rows.
 */
export interface SettlementFee {
  readonly fee_max_atomic: AtomicAmount;
  /** Price of one ether in atomic USDC, at which the maximum was computed. The fee that is paid is converted at the same price. */
  readonly eth_price_atomic: AtomicAmount;
}

const TODAY = `(now() at time zone 'utc')::date`;
const PAID = 'div($2::numeric * eth_price_atomic + 999999999999999999, 1000000000000000000)';

/**
 * Counts the fee of a settlement that is being committed. If the day would then exceed `day_max_atomic`, it returns false and counts
 * nothing. The settlements of a day wait for each other here, so concurrent ones cannot exceed the limit.
 */
export async function reserveFee(
  tx: Tx,
  settlement_id: string,
  { fee_max_atomic, eth_price_atomic }: SettlementFee,
  day_max_atomic: AtomicAmount,
): Promise<boolean> {
  tx.write({
    name: 'note settlement fee',
    text: `update settlement set fee_day = ${TODAY}, eth_price_atomic = $2, fee_max_atomic = $3, fee_atomic = $3
      where settlement_id = $1`,
    values: [settlement_id, eth_price_atomic.toString(), fee_max_atomic.toString()],
  });
  const { rowCount } = await tx.query({
    name: 'reserve settlement fee',
    text: `insert into settlement_fee_day as d (day, fee_atomic, authorizations)
      select fee_day, fee_max_atomic, authorizations from settlement where settlement_id = $1 and fee_max_atomic <= $2
      on conflict (day) do update set fee_atomic = d.fee_atomic + excluded.fee_atomic,
        authorizations = d.authorizations + excluded.authorizations
      where d.fee_atomic + excluded.fee_atomic <= $2`,
    values: [settlement_id, day_max_atomic.toString()],
  });
  return rowCount === 1;
}

/**
 * Counts the higher maximum fee of a transaction that replaces an earlier one. Only the higher one counts, since at most one of the two is
 * mined. It is never refused, because a stuck nonce would block all nonces after it.
 */
export function raiseFee(tx: Tx, settlement_id: string, fee_wei_max: bigint): void {
  tx.write({
    name: 'raise settlement fee',
    text: `with old as (
        select settlement_id, fee_day, fee_atomic, ${PAID} as fee_max from settlement
        where settlement_id = $1 and fee_day is not null for update),
      raised as (
        update settlement s set fee_atomic = fee_max, fee_max_atomic = fee_max from old
        where s.settlement_id = old.settlement_id and fee_max > s.fee_max_atomic
        returning old.fee_day, old.fee_max - old.fee_atomic as more)
      update settlement_fee_day d set fee_atomic = d.fee_atomic + more from raised where d.day = raised.fee_day`,
    values: [settlement_id, fee_wei_max.toString()],
  });
}

/**
 * Statement that corrects the fee counted for a settlement to the fee that was paid on the chain. Repeating it changes nothing. `paid_wei`
 * is null if nothing will ever be paid. The count never exceeds the maximum that was signed for, whatever a node reports.
 */
export function feeCorrection(settlement_id: string, paid_wei: bigint | null): pg.QueryConfig {
  return {
    name: 'correct settlement fee',
    text: `with old as (
        select settlement_id, fee_day, fee_atomic, least(coalesce(${PAID}, 0), fee_max_atomic) as paid from settlement
        where settlement_id = $1 and fee_day is not null for update),
      corrected as (
        update settlement s set fee_atomic = paid from old
        where s.settlement_id = old.settlement_id and s.fee_atomic <> paid
        returning old.fee_day, old.paid - old.fee_atomic as more)
      update settlement_fee_day d set fee_atomic = d.fee_atomic + more from corrected where d.day = corrected.fee_day`,
    values: [settlement_id, paid_wei?.toString() ?? null],
  };
}
