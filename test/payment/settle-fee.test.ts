import { beforeEach, describe, expect, it } from 'vitest';
import type { Hex } from '../../gateway/payment/base/abi.ts';
import { ETH_USD_FEED, GAS_PRICE_ORACLE } from '../../gateway/payment/base/market.ts';
import { openBase } from '../../gateway/payment/base/open-base.ts';
import type { Settlement } from '../../gateway/payment/outcome.ts';
import { priceBatch } from '../../gateway/payment/settle/batch-fee.ts';
import { usdcOfWei } from '../../gateway/payment/settle/eth-price.ts';
import { gasOrdinary, type SettleItem } from '../../gateway/payment/settle/submission.ts';
import { atomicAmount } from '../../schema/amount.ts';
import { startLyingChain } from '../harness/lying-chain.ts';
import { atEnd } from '../harness/release.ts';
import { openWallets } from '../harness/wallets.ts';
import { feeBounds, type Ground, openGround, until } from './ground.ts';

let ground: Ground;
beforeEach(async () => {
  ground = await openGround();
});

const DOLLAR = atomicAmount(1_000_000n);
const TOO_HIGH = { kind: 'not_sent', reason: 'fee_too_high' };
const kinds = (settlements: readonly Settlement[]) =>
  settlements.map(it => ('reason' in it ? `${it.kind}:${it.reason}` : it.kind));
const mined = () => until(async () => (await ground.states()).every(state => state === 'mined'));

async function onePayment(): Promise<SettleItem> {
  return ground.payment(await ground.wallet());
}
async function market() {
  const seen = await ground.base.market([]);
  if (seen.kind !== 'ok') throw seen.cause;
  return seen.value;
}
/** What these cost as a rule at what the chain asks now, at a dollar an ether. */
async function costOf(items: readonly SettleItem[]): Promise<bigint> {
  const { head, priority_fee_wei } = await market();
  return usdcOfWei(BigInt(gasOrdinary(items)) * (head.base_fee_wei + priority_fee_wei), DOLLAR);
}
/** What is counted for these until they are mined. */
async function worstOf(items: readonly SettleItem[]): Promise<bigint> {
  const fee = priceBatch(items, await market(), DOLLAR, feeBounds().fee_max_atomic);
  if (fee.kind !== 'priced') throw new Error('too high');
  return fee.worst_atomic;
}
/** What the chain has taken for the settlements so far. */
async function paidOnChain(): Promise<bigint> {
  let sum = 0n;
  for (const { tx_hash } of await ground.attempts()) {
    const receipt = await ground.chain.call<Record<'gasUsed' | 'effectiveGasPrice', Hex> | null>(
      'eth_getTransactionReceipt',
      tx_hash,
    );
    if (receipt) sum += usdcOfWei(BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice), DOLLAR);
  }
  return sum;
}

describe('SETTLE_FEE_MAX', () => {
  it('one below what a payment costs refuses it before anything is committed; at that, and one above, it is sent', async () => {
    const item = await onePayment();
    const cost = await costOf([item]);
    const below = ground.settler({ fee_bounds: feeBounds({ fee_max_atomic: cost - 1n }) });
    expect(await below.settle(item)).toEqual(TOO_HIGH);
    expect([ground.claims.settlements.size, await ground.attempts()]).toEqual([0, []]);
    expect(await ground.feeDay()).toMatchObject({ fee_atomic: 0n });

    const at = ground.settler({ fee_bounds: feeBounds({ fee_max_atomic: cost }) });
    expect(await at.settle(item)).toMatchObject({ kind: 'transferred', by: 'us' });
    const next = await onePayment();
    const above = ground.settler({ fee_bounds: feeBounds({ fee_max_atomic: (await costOf([next])) + 1n }) });
    expect(await above.settle(next)).toMatchObject({ kind: 'transferred', by: 'us' });
  });

  it('is for the share of each in its batch: ten together are sent where one alone is too dear', async () => {
    const items = await ground.payments(10);
    const [lone] = await ground.payments(1);
    if (!lone) return;
    const share = (await costOf(items)) / 10n + 1n;
    expect(await costOf([lone])).toBeGreaterThan(share);
    const settler = ground.settler({ fee_bounds: feeBounds({ fee_max_atomic: share }) });
    expect(await settler.settle(lone)).toEqual(TOO_HIGH);
    const settlements = await Promise.all(items.map(item => settler.settle(item)));
    expect(new Set(kinds(settlements))).toEqual(new Set(['transferred']));
  });

  it('holds for those who are left of a batch whose other claims were lost: nothing of it is committed', async () => {
    const items = await ground.payments(10);
    for (const { claim_key } of items.slice(1)) ground.claims.lost.add(claim_key);
    const share = (await costOf(items)) / 10n + 1n;
    const settler = ground.settler({ fee_bounds: feeBounds({ fee_max_atomic: share }) });
    const settlements = await Promise.all(items.map(item => settler.settle(item)));
    expect(new Set(kinds(settlements))).toEqual(new Set(['not_sent:fee_too_high']));
    expect(await ground.attempts()).toEqual([]);
    expect(await ground.feeDay()).toMatchObject({ fee_atomic: 0n, of: 0 });
  });
});

describe('what a settlement uses as a rule', () => {
  const used = async (items: readonly SettleItem[]) => {
    const settler = ground.settler();
    await Promise.all(items.map(item => settler.settle(item)));
    const { tx_hash } = (await ground.attempts()).at(-1) ?? {};
    const receipt = await ground.chain.call<{ gasUsed: Hex }>('eth_getTransactionReceipt', tx_hash ?? '');
    return Number(receipt.gasUsed);
  };

  it('is no more than it is judged by, of keys alone and of any number of different payers together', async () => {
    // The very first payment to a treasury costs more than all that follow.
    await used([await onePayment()]);
    for (const count of [1, 2, 10]) {
      const items = [];
      for (let payer = 0; payer < count; payer++) items.push(await onePayment());
      expect(await used(items), String(count)).toBeLessThanOrEqual(gasOrdinary(items));
    }
  });

  it('is no more than it is judged by, of contract wallets that stand and of one that is still to be made', async () => {
    await used([await onePayment()]);
    const wallets = openWallets(ground.chain);
    const unmade = await wallets.unmade(await wallets.deploy('WalletFactory'));
    for (const wallet of [await wallets.plain(), await wallets.tagged(), unmade]) {
      const items = [await ground.payment(wallet)];
      expect(await used(items)).toBeLessThanOrEqual(gasOrdinary(items));
    }
  });
});

describe('SETTLE_FEE_DAY_MAX', () => {
  it('one below what a payment may cost refuses it, nothing stands; at that it is sent, and again with the day raised', async () => {
    const [item, next] = [await onePayment(), await onePayment()];
    const worst = await worstOf([item]);
    const bounded = (fee_day_max_atomic: bigint) => ground.settler({ fee_bounds: feeBounds({ fee_day_max_atomic }) });
    expect(await bounded(worst - 1n).settle(item)).toEqual(TOO_HIGH);
    expect(await ground.attempts()).toEqual([]);
    expect(await bounded(worst).settle(item)).toMatchObject({ kind: 'transferred', by: 'us' });
    await mined();
    const { fee_atomic } = await ground.feeDay();
    const more = await worstOf([next]);
    expect(await bounded(fee_atomic + more - 1n).settle(next)).toEqual(TOO_HIGH);
    expect(await bounded(fee_atomic + more).settle(next)).toMatchObject({ kind: 'transferred', by: 'us' });
  });

  it('counts what may be paid while a settlement is under way, and what the receipt says after it', async () => {
    const items = await ground.payments(3);
    const worst = await worstOf(items);
    await ground.chain.setAutomine(false);
    const settler = ground.settler();
    const settling = Promise.all(items.map(item => settler.settle(item)));
    await until(async () => (await ground.attempts()).length === 1);
    expect(await ground.feeDay()).toEqual({ fee_atomic: worst, counted: worst, of: 3 });
    await ground.chain.setAutomine(true);
    await ground.chain.mine();
    await settling;
    await mined();
    const paid = await paidOnChain();
    expect(await ground.feeDay()).toEqual({ fee_atomic: paid, counted: paid, of: 3 });
    expect(paid).toBeLessThan(worst);
  });

  it('is one for all processes: two that settle at once never come to more, and the counter is the sum of its settlements', async () => {
    const items = await ground.payments(16);
    const room = 3n * (await worstOf(items.slice(0, 1)));
    const fee_bounds = feeBounds({ fee_day_max_atomic: room });
    await ground.chain.setAutomine(false);
    const [one, other] = ground.chain.facilitator_keys;
    if (!one || !other) return;
    // Each of these has a key for each payment it takes up, so that all are journalled while nothing is mined.
    const settlers = Array.from({ length: 8 }, (_, index) =>
      ground.settler({ fee_bounds, keys: [index % 2 ? one : other], wait_ms: 1_000 }),
    );
    const settlements = await Promise.all(items.map((item, index) => settlers[index % 8]?.settle(item)));
    const refused = settlements.filter(it => it?.kind === 'not_sent' && it.reason === 'fee_too_high');
    expect(refused.length).toBeGreaterThan(0);
    const { fee_atomic, counted } = await ground.feeDay();
    expect(fee_atomic).toBe(counted);
    expect(fee_atomic).toBeLessThanOrEqual(room);
    expect((await ground.attempts()).length).toBeLessThanOrEqual(3);
  });

  it('is corrected by whoever goes on after a process that died, once however often it looks', async () => {
    const faults = { reach: (name: string) => (name === 'after_settling' ? new Promise<void>(() => {}) : ready) };
    const ready = Promise.resolve();
    const dying = ground.settler({ faults });
    void dying.settle(await onePayment());
    await until(async () => (await ground.attempts()).length === 1);
    await dying.close();
    const next = ground.settler({ nudge_ms: 50 });
    await until(async () => {
      await next.rebroadcast();
      return (await ground.states()).join() === 'mined';
    });
    await next.rebroadcast();
    const paid = await paidOnChain();
    expect(await ground.feeDay()).toEqual({ fee_atomic: paid, counted: paid, of: 1 });
  });

  it('believes no node that says more was paid than was signed for', async () => {
    const lying = await startLyingChain(ground.chain.rpc_url);
    const base = openBase({ rpc_url: lying.url });
    atEnd(() => base.close());
    const price = `0x${'f'.repeat(64)}`;
    lying.lie({
      eth_getTransactionReceipt: truth =>
        truth === null ? null : { ...(truth as Record<string, string>), effectiveGasPrice: price },
    });
    const item = await onePayment();
    const worst = await worstOf([item]);
    expect(await ground.settler({ chain: base }).settle(item)).toMatchObject({ kind: 'transferred' });
    await mined();
    expect(await ground.feeDay()).toEqual({ fee_atomic: worst, counted: worst, of: 1 });
  });
});

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
  const now = async () => BigInt((await market()).head.timestamp_seconds);
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
    expect((await market()).eth_round).toMatchObject({ kind: 'round', answer: 300_000_000_000n });
    expect(await production().settle(await lasting())).toMatchObject({ kind: 'transferred' });
    await mined();
    const { fee_atomic } = await ground.feeDay();
    const in_dollars = await paidOnChain();
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
    const gas_alone = await costOf([item]);
    // 352 bytes, at 3.52 times what is said of 100.
    const l1_fee_wei = 10n ** 14n;
    await put(GAS_PRICE_ORACLE, [0n, 0n, l1_fee_wei]);
    expect((await market()).l1_fee_wei).toBe(l1_fee_wei);
    const with_l1 = gas_alone + usdcOfWei((l1_fee_wei * 352n) / 100n, DOLLAR);
    expect(await bounded(gas_alone).settle(item)).toEqual(TOO_HIGH);
    expect(await bounded(with_l1 - 2n).settle(item)).toEqual(TOO_HIGH);
    expect(await bounded(with_l1).settle(item)).toMatchObject({ kind: 'transferred' });
  });
});
