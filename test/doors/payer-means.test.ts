import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { beforeAll, describe, expect, it } from 'vitest';
import { networks } from '../../schema/network.ts';
import { cancellation } from '../harness/base/wallet.ts';
import type { Wallet } from '../harness/buyer.ts';
import { makePayment } from '../harness/doors/make-payment.ts';
import { ask, CHAT, type ChallengeBody, PRICE, type Service, sharedService } from '../harness/doors/open-service.ts';
import { openWallets, type TestWallets } from '../harness/wallets.ts';

let service: Service;
let wallets: TestWallets;
beforeAll(async () => {
  service = await sharedService();
  wallets = openWallets(service.chain);
});

const word = ({ status, body }: { status: number; body: ChallengeBody }) => ({ status, error: body.error });
const transfer = parseAbi(['function transfer(address to, uint256 amount)']);

/** Makes a call that waits at its hub until `meanwhile` has resolved. */
async function whileWorking(payer: Wallet, meanwhile: (nonce: Hex) => Promise<unknown>) {
  const made = await makePayment(service, payer);
  const before = service.gates.alpha.held();
  service.gates.alpha.hold();
  const called = service.post<ChallengeBody>(CHAT, ask('Meanwhile', { model: 'alpha-1' }), made.headers);
  await expect.poll(service.gates.alpha.held).toBe(before + 1);
  await meanwhile(made.message.nonce);
  service.gates.alpha.open();
  return { heard: await called, headers: made.headers };
}

async function drain({ address }: Wallet): Promise<void> {
  const amount = await service.chain.balanceOf(address);
  const data = encodeFunctionData({ abi: transfer, functionName: 'transfer', args: [`0x${'de'.repeat(20)}`, amount] });
  await service.chain.call('anvil_setBalance', address, '0xde0b6b3a7640000');
  await service.chain.call('anvil_impersonateAccount', address);
  await service.chain.call('eth_sendTransaction', { from: address, to: networks.base.usdc, data });
  await expect.poll(() => service.chain.balanceOf(address)).toBe(0n);
}

describe('POST /v1/chat/completions 402 and nothing charged, where meanwhile the payer', () => {
  it('has spent what he had: reverted, released; he rests, and 200 by the same payment once he has it again', async () => {
    const payer = await service.chain.newWallet(PRICE);
    const { heard, headers } = await whileWorking(payer, () => drain(payer));
    expect(word(heard)).toEqual({ status: 402, error: 'reverted' });
    expect(await service.claimsOf(payer)).toEqual([{ state: 'released', reason: 'reverted' }]);
    expect(await service.transfersFrom(payer)).toEqual([]);
    const again = () => service.post<ChallengeBody>(CHAT, ask('Meanwhile', { model: 'alpha-1' }), headers);
    const resting = await again();
    expect(resting).toMatchObject({ status: 429, body: { code: 'rate_limited', charged: false } });
    expect(Number(resting.headers.get('Retry-After'))).toBeGreaterThan(0);
    await expect.poll(async () => word(await again())).toEqual({ status: 402, error: 'insufficient_funds' });
    await service.chain.mint(payer.address, PRICE);
    expect((await again()).status).toBe(200);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it.each<[string, () => Promise<Wallet>]>([
    ['of a key', () => service.chain.newWallet()],
    ['of a contract', () => wallets.tagged()],
  ])('has cancelled the payment %s: cancelled, released', async (_, make) => {
    const payer = await make();
    const { heard } = await whileWorking(payer, async nonce =>
      wallets.call(networks.base.usdc, await cancellation(payer, nonce)),
    );
    expect(word(heard)).toEqual({ status: 402, error: 'cancelled' });
    expect(await service.claimsOf(payer)).toEqual([{ state: 'released', reason: 'cancelled' }]);
    expect(await service.transfersFrom(payer)).toEqual([]);
  });
});

it('POST /v1/chat/completions 402 cancelled, where the payment was cancelled before: no hub is asked', async () => {
  for (const payer of [await service.chain.newWallet(), await wallets.plain()]) {
    const made = await makePayment(service, payer);
    await wallets.call(networks.base.usdc, await cancellation(payer, made.message.nonce));
    const before = service.hubs[0].requests.length + service.hubs[1].requests.length;
    expect(word(await service.post(CHAT, ask(), made.headers))).toEqual({ status: 402, error: 'cancelled' });
    expect(service.hubs[0].requests.length + service.hubs[1].requests.length).toBe(before);
    expect(await service.transfersFrom(payer)).toEqual([]);
  }
});

describe('POST /v1/chat/completions, several slow calls at once on one balance', () => {
  it('402 insufficient_funds beyond it: exactly as many are worked for as it covers', async () => {
    const payer = await service.chain.newWallet(2n * PRICE);
    const payments = await Promise.all(Array.from({ length: 7 }, () => service.payment(payer, CHAT)));
    const before = service.gates.alpha.held();
    service.gates.alpha.hold();
    const settled: number[] = [];
    const calls = payments.map(async (payment, index) => {
      const heard = await service.post<ChallengeBody>(CHAT, ask(`Slow ${index}`, { model: 'alpha-1' }), payment);
      settled.push(heard.status);
      return heard;
    });
    await expect.poll(() => settled.length).toBe(5);
    await expect.poll(service.gates.alpha.held).toBe(before + 2);
    expect(settled).toEqual([402, 402, 402, 402, 402]);
    expect(await service.claimsOf(payer)).toHaveLength(2);
    service.gates.alpha.open();
    const heard = await Promise.all(calls);
    const refused = heard.filter(({ status }) => status === 402);
    expect(refused.map(word)).toEqual(refused.map(() => ({ status: 402, error: 'insufficient_funds' })));
    expect(heard.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(service.gates.alpha.held()).toBe(before + 2);
    expect(await service.transfersFrom(payer)).toHaveLength(2);
    expect(await service.chain.balanceOf(payer.address)).toBe(0n);
  });

  it('200 to all whom it covers exactly, though some are settled and not recorded when others come', async () => {
    const payer = await service.chain.newWallet(24n * PRICE);
    // Each of six buyers calls again as soon as it has its answer, so that claims of every age exist at the same time.
    const statuses = await Promise.all(
      Array.from({ length: 6 }, async (_, buyer) => {
        const heard: number[] = [];
        for (let call = 0; call < 4; call++) heard.push((await service.buy(payer, ask(`${buyer}.${call}`))).status);
        return heard;
      }),
    );
    expect(statuses.flat()).toEqual(Array.from({ length: 24 }, () => 200));
    expect(await service.chain.balanceOf(payer.address)).toBe(0n);
  });
});
