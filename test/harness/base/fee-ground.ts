import type { Hex } from '../../../gateway/rails/base/abi.ts';
import { gasOrdinary, priceBatch, type SettleItem, usdcOfWei } from '../../../gateway/rails/base/settle/batch.ts';
import { atomicAmount } from '../../../schema/amount.ts';
import { type BaseGround, feeBounds } from './ground.ts';

/** Price of one ETH in atomic USDC. */
export const DOLLAR = atomicAmount(1_000_000n);
export const TOO_HIGH = { kind: 'not_sent', reason: 'fee_too_high' };

export type Fees = ReturnType<typeof openFees>;

/** Fees of settlements on a test chain, where one ETH costs one dollar. */
export function openFees({ base, attempts, chain }: BaseGround) {
  async function market() {
    const seen = await base.market([]);
    if (seen.kind !== 'ok') throw seen.cause;
    return seen.value;
  }
  return {
    market,
    /** The fee of a settlement at the chain's current gas price. */
    async costOf(items: readonly SettleItem[]): Promise<bigint> {
      const { head, priority_fee_wei } = await market();
      return usdcOfWei(BigInt(gasOrdinary(items)) * (head.base_fee_wei + priority_fee_wei), DOLLAR);
    },
    /** The fee that is counted for these payments until they are mined: the most that they can cost. */
    async worstOf(items: readonly SettleItem[]): Promise<bigint> {
      const fee = priceBatch(items, await market(), DOLLAR, feeBounds().fee_max_atomic);
      if (fee.kind !== 'priced') throw new Error('too high');
      return fee.worst_atomic;
    },
    /** The fees that the chain has charged for all settlements so far. */
    async paidOnChain(): Promise<bigint> {
      let sum = 0n;
      for (const { tx_hash } of await attempts()) {
        const receipt = await chain.call<Record<'gasUsed' | 'effectiveGasPrice', Hex> | null>(
          'eth_getTransactionReceipt',
          tx_hash,
        );
        if (receipt) sum += usdcOfWei(BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice), DOLLAR);
      }
      return sum;
    },
  };
}
