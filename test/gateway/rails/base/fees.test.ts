import fc from 'fast-check';
import { parseTransaction, recoverTransactionAddress } from 'viem';
import { describe, expect, it } from 'vitest';
import { hex } from '../../../../gateway/rails/base/abi.ts';
import { feesNow, replacementFees } from '../../../../gateway/rails/base/settle/fees.ts';
import { settlerKey, signAgain, signTransaction } from '../../../../gateway/rails/base/settle/transaction.ts';
import { networks } from '../../../../schema/network.ts';

const wei = fc.bigInt(0n, 10n ** 12n);
const market = fc.record({ base_fee_wei: wei, priority_fee_wei: wei });

describe('fees', () => {
  it('are never above the ceiling, never below what the market asks, and too_high only when it asks for more', () => {
    fc.assert(
      fc.property(market, wei, (asked, ceiling) => {
        const floor = asked.base_fee_wei + asked.priority_fee_wei;
        const priced = feesNow(asked, ceiling);
        expect(priced.kind).toBe(floor > ceiling ? 'too_high' : 'priced');
        if (priced.kind !== 'priced') return;
        expect(priced.fees.max_fee_wei).toBeLessThanOrEqual(ceiling);
        expect(priced.fees.max_fee_wei).toBeGreaterThanOrEqual(floor);
      }),
    );
  });

  it('of a replacement rise by a tenth at least, both of them, and stay under the ceiling', () => {
    const sent = fc.tuple(wei, wei).map(([tip, more]) => ({ max_fee_wei: tip + more, priority_fee_wei: tip }));
    fc.assert(
      fc.property(sent, market, wei, (previous, asked, ceiling) => {
        const priced = replacementFees(previous, asked, ceiling);
        if (priced.kind !== 'priced') return;
        const { max_fee_wei, priority_fee_wei } = priced.fees;
        expect(max_fee_wei * 10n).toBeGreaterThan(previous.max_fee_wei * 11n);
        expect(priority_fee_wei * 10n).toBeGreaterThan(previous.priority_fee_wei * 11n);
        expect(max_fee_wei).toBeLessThanOrEqual(ceiling);
        expect(priority_fee_wei).toBeLessThanOrEqual(max_fee_wei);
      }),
    );
  });
});

describe('a settlement transaction', () => {
  const secret = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(bytes => hex(bytes.with(0, 1)));
  const unsigned = {
    to: networks.base.multicall3,
    data: '0x1234',
    gas: 170_000,
    nonce: 7,
    fees: { max_fee_wei: 3n, priority_fee_wei: 1n },
  } as const;

  it('is recovered to its key by an independent implementation, and signs to the same bytes again', async () => {
    await fc.assert(
      fc.asyncProperty(secret, async private_key => {
        const key = settlerKey(private_key);
        const signed = signTransaction(key, unsigned);
        expect(await recoverTransactionAddress({ serializedTransaction: signed.raw as `0x02${string}` })).toBe(
          key.address,
        );
        expect(signTransaction(key, unsigned)).toEqual(signed);
      }),
      { numRuns: 20 },
    );
  });

  it('signed again is the same call under another nonce and other fees', () => {
    const key = settlerKey(`0x${'01'.repeat(32)}`);
    const fees = { max_fee_wei: 9n, priority_fee_wei: 2n };
    const again = parseTransaction(signAgain(key, signTransaction(key, unsigned).raw, { nonce: 8, fees }).raw);
    expect(again).toMatchObject({
      to: unsigned.to.toLowerCase(),
      data: '0x1234',
      gas: 170_000n,
      nonce: 8,
      chainId: 8453,
      maxFeePerGas: 9n,
      maxPriorityFeePerGas: 2n,
    });
  });
});
