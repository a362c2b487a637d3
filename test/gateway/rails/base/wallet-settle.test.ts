import { beforeEach, describe, expect, it } from 'vitest';
import { paymentCalls } from '../../../../gateway/rails/base/contracts.ts';
import { type SettleItem, submissionOf } from '../../../../gateway/rails/base/settle/batch.ts';
import { limits } from '../../../../schema/limits.ts';
import { type BaseGround, openBaseGround } from '../../../harness/base/ground.ts';
import { openWallets, type TestWallets } from '../../../harness/wallets.ts';

let ground: BaseGround;
let wallets: TestWallets;
beforeEach(async () => {
  ground = await openBaseGround();
  wallets = openWallets(ground.chain);
});

const settled = (items: readonly SettleItem[]) => {
  const settler = ground.settler();
  return Promise.all(items.map(item => settler.settle(item)));
};
const transactions = (settlements: Awaited<ReturnType<typeof settled>>) =>
  settlements.map(it => (it.kind === 'transferred' ? it.tx_hash : it.kind));

/** Whether the very transaction, simulated and discarded, would move the money. */
async function simulated({ authorization, signature }: SettleItem): Promise<boolean> {
  if (signature.kind !== 'contract') throw new Error("this is a key's");
  const answer = await ground.base.simulate(paymentCalls(authorization, signature), ground.pay_to);
  if (answer.kind !== 'ok') throw answer.cause;
  return answer.value !== null;
}

describe('a contract wallet', () => {
  it('is settled alone: keys at once with it share a transaction without it', async () => {
    const contracts = [await ground.payment(await wallets.plain()), await ground.payment(await wallets.tagged())];
    const keys = await ground.payments(5);
    const [first, second, ...others] = transactions(await settled([...contracts, ...keys]));
    expect(new Set([first, second, others[0]]).size).toBe(3);
    expect(new Set(others).size).toBe(1);
    expect(await ground.chain.transfers(ground.pay_to)).toHaveLength(7);
  });

  it('that burns its gas on the chain harms nobody, and burns no more than its bound', async () => {
    const burner = await ground.payment(await wallets.burner());
    expect(await simulated(burner)).toBe(true);
    const keys = await ground.payments(6);
    const settlements = await settled([...keys.slice(0, 3), burner, ...keys.slice(3)]);
    expect(settlements.map(it => ('reason' in it ? it.reason : it.kind))).toEqual(
      [...keys.slice(0, 3), burner, ...keys.slice(3)].map(it => (it === burner ? 'reverted' : 'transferred')),
    );
    // One attempt each: no other payment had to be sent again because of it.
    expect(await ground.attempts()).toHaveLength(2);
    const gas_used = await Promise.all(
      (await ground.attempts()).map(async ({ tx_hash }) =>
        Number((await ground.chain.call<{ gasUsed: string }>('eth_getTransactionReceipt', tx_hash)).gasUsed),
      ),
    );
    expect(Math.max(...gas_used)).toBeLessThanOrEqual(limits.wallet_gas_max);
  });

  it('that burns its gas whoever asks is seen in the simulation', async () => {
    expect(await simulated(await ground.payment(await wallets.of('OpenBurner')))).toBe(false);
  });

  it('that is still to be made is made by its payment, and the payment moves', async () => {
    const wallet = await wallets.unmade(await wallets.deploy('WalletFactory'));
    const item = await ground.payment(wallet);
    expect(await simulated(item)).toBe(true);
    expect(await wallets.codeAt(wallet.address)).toBe('0x');
    expect(await settled([item])).toMatchObject([{ kind: 'transferred', by: 'us' }]);
    expect(await wallets.codeAt(wallet.address)).not.toBe('0x');
  });

  it('that is made by somebody else meanwhile pays all the same', async () => {
    const wallet = await wallets.unmade(await wallets.deploy('WalletFactory'));
    const [first, second] = [await ground.payment(wallet), await ground.payment(wallet)];
    const made = await settled([first]);
    const again = await settled([second]);
    expect([...made, ...again]).toMatchObject([{ kind: 'transferred' }, { kind: 'transferred' }]);
  });

  it('that was switched off after it was simulated does not move: reverted', async () => {
    const wallet = await wallets.plain();
    const item = await ground.payment(wallet);
    expect(await simulated(item)).toBe(true);
    await wallets.switchOff(wallet);
    expect(await simulated(item)).toBe(false);
    expect(await settled([item])).toEqual([{ kind: 'not_transferred', reason: 'reverted' }]);
  });

  it('may spend the gas of a wallet, a key that of a transfer', async () => {
    const [key] = await ground.payments(1);
    const contract = await ground.payment(await wallets.plain());
    if (!key) return;
    expect(submissionOf([contract]).gas).toBe(limits.wallet_gas_max);
    expect(submissionOf([key]).gas).toBeLessThan(limits.wallet_gas_max);
  });
});
