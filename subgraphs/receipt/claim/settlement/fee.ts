import type pg from 'pg';
import type { AtomicAmount } from '../../../../schema/amount.ts';
import type { Tx } from '../../../database.ts';

/**
 * What a settlement may cost, in atomic USDC. It counts for the day (UTC, the database's clock) on which it was committed:
 * at its most until it is seen mined, and then at what it was paid. The day's row is locked last of all.
 */
export interface SettlementFee {
  readonly fee_max_atomic: AtomicAmount;
  /** Atomic USDC for one ether, by which it was reckoned and what is paid will be. */
  readonly eth_price_atomic: AtomicAmount;
}

const TODAY = `(now() at time zone 'utc')::date`;
const PAID = 'div($2::numeric * eth_price_atomic + 999999999999999999, 1000000000000000000)';

/**
 * Counts a settlement that is being committed, unless the day would exceed `day_max_atomic`: then it returns false and counts nothing. Each
 * of a day's settlements waits for the one before it, so no interleaving exceeds the limit.
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
 * A transaction with higher fees takes the place of what was sent before it, since at most one of them is mined: what it may cost is
 * counted, and never refused, because a nonce that stays stuck would hold up all behind it.
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
 * Corrects what the day counts to what was paid by the chain, once however often it is reported. `paid_wei`: null if nothing will ever be
 * paid. Never more than was signed for, whatever a node says.
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
