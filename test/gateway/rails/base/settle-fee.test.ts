import { beforeEach, describe, expect, it } from 'vitest';
import type { Hex } from '../../../../gateway/rails/base/abi.ts';
import { openBase } from '../../../../gateway/rails/base/open-base.ts';
import { gasOrdinary, type SettleItem } from '../../../../gateway/rails/base/settle/batch.ts';
import type { SettleOutcome } from '../../../../gateway/rails/outcome.ts';
import { type Fees, openFees, TOO_HIGH } from '../../../harness/base/fee-ground.ts';
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

const kinds = (settlements: readonly SettleOutcome[]) =>
  settlements.map(it => ('reason' in it ? `${it.kind}:${it.reason}` : it.kind));
const mined = () => until(async () => (await ground.states()).every(state => state === 'mined'));

async function onePayment(): Promise<SettleItem> {
  return ground.payment(await ground.wallet());
}

describe('SETTLE_FEE_MAX', () => {
  it('one below what a payment costs refuses it before anything is committed; at that, and one above, it is sent', async () => {
    const item = await onePayment();
    const cost = await fees.costOf([item]);
    const below = ground.settler({ fee_bounds: feeBounds({ fee_max_atomic: cost - 1n }) });
    expect(await below.settle(item)).toEqual(TOO_HIGH);
    expect(below.pause).toBe(null);
    const nobody = ground.settler({ fee_bounds: feeBounds({ fee_max_atomic: cost / 3n }) });
    expect([await nobody.settle(item), nobody.pause]).toEqual([TOO_HIGH, 'fee_too_high']);
    expect([ground.claims.settlements.size, await ground.attempts()]).toEqual([0, []]);
    expect(await ground.feeDay()).toMatchObject({ fee_atomic: 0n });

    const at = ground.settler({ fee_bounds: feeBounds({ fee_max_atomic: cost }) });
    expect(await at.settle(item)).toMatchObject({ kind: 'transferred', by: 'us' });
    const next = await onePayment();
    const above = ground.settler({ fee_bounds: feeBounds({ fee_max_atomic: (await fees.costOf([next])) + 1n }) });
    expect(await above.settle(next)).toMatchObject({ kind: 'transferred', by: 'us' });
  });

  it('is for the share of each in its batch: ten together are sent where one alone is too dear', async () => {
    const items = await ground.payments(10);
    const [lone] = await ground.payments(1);
    if (!lone) return;
    const share = (await fees.costOf(items)) / 10n + 1n;
    expect(await fees.costOf([lone])).toBeGreaterThan(share);
    const settler = ground.settler({ fee_bounds: feeBounds({ fee_max_atomic: share }) });
    expect(await settler.settle(lone)).toEqual(TOO_HIGH);
    // Others may still be settled together, so no payer is turned away before the work.
    expect(settler.pause).toBe(null);
    const settlements = await Promise.all(items.map(item => settler.settle(item)));
    expect(new Set(kinds(settlements))).toEqual(new Set(['transferred']));
  });

  it('holds for those who are left of a batch whose other claims were lost: nothing of it is committed', async () => {
    const items = await ground.payments(10);
    for (const { claim_key } of items.slice(1)) ground.claims.lost.add(claim_key);
    const share = (await fees.costOf(items)) / 10n + 1n;
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
    // The first payment to a treasury costs more than all later ones.
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
    const worst = await fees.worstOf([item]);
    const bounded = (fee_day_max_atomic: bigint) => ground.settler({ fee_bounds: feeBounds({ fee_day_max_atomic }) });
    const full = bounded(worst - 1n);
    expect([await full.settle(item), full.pause]).toEqual([TOO_HIGH, 'fee_too_high']);
    expect(await ground.attempts()).toEqual([]);
    expect(await bounded(worst).settle(item)).toMatchObject({ kind: 'transferred', by: 'us' });
    await mined();
    const { fee_atomic } = await ground.feeDay();
    const more = await fees.worstOf([next]);
    expect(await bounded(fee_atomic + more - 1n).settle(next)).toEqual(TOO_HIGH);
    expect(await bounded(fee_atomic + more).settle(next)).toMatchObject({ kind: 'transferred', by: 'us' });
  });

  it('counts what may be paid while a settlement is under way, and what the receipt says after it', async () => {
    const items = await ground.payments(3);
    const worst = await fees.worstOf(items);
    await ground.chain.setAutomine(false);
    const settler = ground.settler();
    const settling = Promise.all(items.map(item => settler.settle(item)));
    await until(async () => (await ground.attempts()).length === 1);
    expect(await ground.feeDay()).toEqual({ fee_atomic: worst, counted: worst, of: 3 });
    await ground.chain.setAutomine(true);
    await ground.chain.mine();
    await settling;
    await mined();
    const paid = await fees.paidOnChain();
    expect(await ground.feeDay()).toEqual({ fee_atomic: paid, counted: paid, of: 3 });
    expect(paid).toBeLessThan(worst);
  });

  it('is one for all processes: two that settle at once never come to more, and the counter is the sum of its settlements', async () => {
    const items = await ground.payments(16);
    const room = 3n * (await fees.worstOf(items.slice(0, 1)));
    const fee_bounds = feeBounds({ fee_day_max_atomic: room });
    await ground.chain.setAutomine(false);
    const [one, other] = ground.chain.facilitator_keys;
    if (!one || !other) return;
    // Each of these has a key for each payment it takes, so that all are journalled while nothing is mined.
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
    const paid = await fees.paidOnChain();
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
    const worst = await fees.worstOf([item]);
    expect(await ground.settler({ chain: base }).settle(item)).toMatchObject({ kind: 'transferred' });
    await mined();
    expect(await ground.feeDay()).toEqual({ fee_atomic: worst, counted: worst, of: 1 });
  });
});
