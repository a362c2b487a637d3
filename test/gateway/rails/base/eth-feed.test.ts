import { beforeEach, describe, expect, it } from 'vitest';
import type { Hex } from '../../../../gateway/rails/base/abi.ts';
import { ETH_USD_FEED, GAS_PRICE_ORACLE } from '../../../../gateway/rails/base/market.ts';
import { openBase } from '../../../../gateway/rails/base/open-base.ts';
import { usdcOfWei } from '../../../../gateway/rails/base/settle/batch.ts';
import { DOLLAR, type Fees, openFees, TOO_HIGH } from '../../../harness/base/fee-ground.ts';
import { type BaseGround, feeBounds, openBaseGround, until } from '../../../harness/base/ground.ts';
import { startLyingChain } from '../../../harness/lying-chain.ts';
import { atEnd } from '../../../harness/release.ts';
import { openWallets } from '../../../harness/wallets.ts';

let ground: BaseGround;
let fees: Fees;
beforeEach(async () => {
  ground = await openBaseGround();
  fees = openFees(ground);
});

const mined = () => until(async () => (await ground.states()).every(state => state === 'mined'));

describe("the chain's own word of the price", () => {
  const word = (value: bigint): Hex => `0x${BigInt.asUintN(256, value).toString(16).padStart(64, '0')}`;
  const put = (address: Hex, values: readonly bigint[]) =>
    Promise.all(
      values.map((value, slot) => ground.chain.call('anvil_setStorageAt', address, word(BigInt(slot)), word(value))),
    );
  /** A feed at Chainlink's address on Base, and the oracle of an OP-stack chain at its own. */
  async function stand() {
    const made = await openWallets(ground.chain).deploy('Prices');
    const code = await ground.chain.call<Hex>('eth_getCode', made, 'latest');
    for (const address of [ETH_USD_FEED, GAS_PRICE_ORACLE]) await ground.chain.call('anvil_setCode', address, code);
  }
  const now = async () => BigInt((await fees.market()).head.timestamp_seconds);
  const production = () => {
    let at_ms = 0;
    return ground.settler({
      eth_price: { given: null, profile: 'production' },
      fee_bounds: feeBounds({ fee_max_atomic: 10n ** 9n, fee_day_max_atomic: 10n ** 12n }),
      // Each look is a new one.
      clock: { now_ms: () => (at_ms += 10_000) },
    });
  };
  const UNKNOWN = { kind: 'not_sent', reason: 'price_unknown' };
  const lasting = async () => ground.payment(await ground.wallet(), { valid_before_seconds: 2 ** 33 });

  it('is what fees are reckoned by: the day counts them by that price', async () => {
    await stand();
    await put(ETH_USD_FEED, [300_000_000_000n, await now()]);
    expect((await fees.market()).eth_round).toMatchObject({ kind: 'round', answer: 300_000_000_000n });
    expect(await production().settle(await lasting())).toMatchObject({ kind: 'transferred' });
    await mined();
    const { fee_atomic } = await ground.feeDay();
    const in_dollars = await fees.paidOnChain();
    // Each was rounded up by itself.
    expect(fee_atomic).toBeLessThanOrEqual(in_dollars * 3_000n);
    expect(fee_atomic).toBeGreaterThan((in_dollars - 1n) * 3_000n);
  });

  it.each([
    ['too old', async () => put(ETH_USD_FEED, [300_000_000_000n, (await now()) - 3_700n])],
    ['negative', async () => put(ETH_USD_FEED, [-300_000_000_000n, await now()])],
    ['nothing', async () => put(ETH_USD_FEED, [0n, await now()])],
    ['that it reverts', () => ground.chain.call('anvil_setCode', ETH_USD_FEED, '0xfe')],
    ['that there is none', () => ground.chain.call('anvil_setCode', ETH_USD_FEED, '0x')],
  ])('that is %s leaves payments unsent, after six hours in which the last is kept', async (_, spoil) => {
    const [first, second, third] = [await lasting(), await lasting(), await lasting()];
    await stand();
    await spoil();
    const settler = production();
    expect(await settler.settle(first)).toEqual(UNKNOWN);
    expect(await ground.attempts()).toEqual([]);
    await stand();
    await put(ETH_USD_FEED, [300_000_000_000n, await now()]);
    expect(await settler.settle(first)).toMatchObject({ kind: 'transferred' });
    await spoil();
    expect(await settler.settle(second)).toMatchObject({ kind: 'transferred' });
    await ground.chain.passTime(7 * 3_600);
    expect(await settler.settle(third)).toEqual(UNKNOWN);
  });

  it('that is no answer at all leaves them unsent: the chain is out of reach', async () => {
    const lying = await startLyingChain(ground.chain.rpc_url);
    const base = openBase({ rpc_url: lying.url });
    atEnd(() => base.close());
    lying.lie({ eth_call: () => '0x1234' });
    const reason = 'chain_unavailable';
    expect(await ground.settler({ chain: base }).settle(await lasting())).toEqual({ kind: 'not_sent', reason });
  });

  it('of L1 is counted: one more than fits beside the gas refuses, and what fits is sent', async () => {
    await stand();
    const item = await lasting();
    const dollar = { given: DOLLAR, profile: 'production' } as const;
    const bounded = (fee_max_atomic: bigint) =>
      ground.settler({ eth_price: dollar, fee_bounds: feeBounds({ fee_max_atomic }) });
    const gas_alone = await fees.costOf([item]);
    // 352 bytes, at 3.52 times what is said of 100.
    const l1_fee_wei = 10n ** 14n;
    await put(GAS_PRICE_ORACLE, [0n, 0n, l1_fee_wei]);
    expect((await fees.market()).l1_fee_wei).toBe(l1_fee_wei);
    const with_l1 = gas_alone + usdcOfWei((l1_fee_wei * 352n) / 100n, DOLLAR);
    expect(await bounded(gas_alone).settle(item)).toEqual(TOO_HIGH);
    expect(await bounded(with_l1 - 2n).settle(item)).toEqual(TOO_HIGH);
    expect(await bounded(with_l1).settle(item)).toMatchObject({ kind: 'transferred' });
  });
});
