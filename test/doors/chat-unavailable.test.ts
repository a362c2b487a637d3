import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { beforeAll, describe, expect, it } from 'vitest';
import { ask, CHAT, type Chat, openService, type Service } from '../harness/doors/open-service.ts';
import { movableClock } from '../harness/movable-clock.ts';

/** Seconds after which market data reflect what a test has set, because they may be one block old. */
const MARKET_SECONDS = 2;
/** Seconds for which the service refuses work after it found that it could not send a settlement. */
const PAUSE_SECONDS = 5;

const clock = movableClock();

const gas_key = generatePrivateKey();
const gas_wallet = privateKeyToAddress(gas_key);

let service: Service;
beforeAll(async () => {
  // Only one key, so that a test can take away all gas.
  service = await openService(
    { FACILITATOR_KEYS: gas_key },
    { breaks_at: ['after_claim', '', 'after_work', '', 'before_record'], meant: /the drawer is stuck/, clock },
  );
  await fill(10n ** 18n);
});

const wei = (amount: bigint): Hex => `0x${amount.toString(16)}`;
const fill = (amount: bigint) => service.chain.call('anvil_setBalance', gas_wallet, wei(amount));

async function newPayment() {
  const payer = await service.chain.newWallet();
  return { payer, payment: await service.payment(payer, CHAT) };
}
const chat = (payment: Record<string, string>) => service.post<Chat>(CHAT, ask(), payment);

describe('POST /v1/chat/completions 500 where something broke here', () => {
  it.each(['after the claim', 'after the work'])('%s: not charged, released, and the payment pays', async () => {
    const { payer, payment } = await newPayment();
    const broken = await chat(payment);
    expect(broken).toMatchObject({ status: 500, body: { code: 'internal', error: { type: 'server_error' } } });
    expect(broken.text).not.toContain('drawer');
    expect(await service.claimsOf(payer)).toEqual([{ state: 'released', reason: 'internal' }]);
    expect(await service.transfersFrom(payer)).toEqual([]);
    expect((await chat(payment)).status).toBe(200);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('but 503 settlement_pending once the money may have moved; the answer comes, and one transfer', async () => {
    const { payer, payment } = await newPayment();
    const pending = await chat(payment);
    expect(pending).toMatchObject({ status: 503, body: { code: 'settlement_pending' } });
    expect(pending.text).not.toContain('drawer');
    expect(Number(pending.headers.get('Retry-After'))).toBeGreaterThan(0);
    await expect.poll(async () => (await chat(payment)).status).toBe(200);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });
});

describe('POST /v1/chat/completions 503, nothing sent, and the payment pays later', () => {
  const baseFee = async (wei: Hex) => {
    await service.chain.call('anvil_setNextBlockBaseFeePerGas', wei);
    await service.chain.mine();
  };
  const released = async (code: string, make: () => Promise<unknown>) => {
    const { payer, payment } = await newPayment();
    await make();
    clock.passForGood(MARKET_SECONDS);
    const away = await chat(payment);
    expect(away).toMatchObject({ status: 503, body: { code, charged: false } });
    expect(Number(away.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect(await service.claimsOf(payer)).toEqual([{ state: 'released', reason: code }]);
    expect(await service.transfersFrom(payer)).toEqual([]);
    return { payer, payment };
  };
  /** Expects that the next caller is refused at once, without a call of a hub for work that could not be charged. */
  const unworkedFor = async () => {
    const { payer, payment } = await newPayment();
    const before = service.hubs.reduce((sum, { requests }) => sum + requests.length, 0);
    expect(await chat(payment)).toMatchObject({ status: 503, body: { code: 'fee_too_high', charged: false } });
    expect(service.hubs.reduce((sum, { requests }) => sum + requests.length, 0)).toBe(before);
    expect(await service.claimsOf(payer)).toEqual([]);
  };
  const paysInTheEnd = async ({ payer, payment }: Awaited<ReturnType<typeof released>>) => {
    clock.passForGood(PAUSE_SECONDS);
    await expect.poll(async () => (await chat(payment)).status, { interval: 500 }).toBe(200);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  };

  it('fee_too_high', async () => {
    const { baseFeePerGas } = await service.chain.call<{ baseFeePerGas: Hex }>('eth_getBlockByNumber', 'latest', false);
    // Each of a hundred settlements uses 50,500 gas. At 90 gwei and 1 USD per ETH that costs 4,545 atomic USDC, and the limit is 4,000.
    const refused = await released('fee_too_high', () => baseFee(wei(90_000_000_000n)));
    await unworkedFor();
    await baseFee(baseFeePerGas);
    await paysInTheEnd(refused);
  });

  it('fee_too_high, once the day has cost enough', async () => {
    const today = `(now() at time zone 'utc')::date`;
    const count = (fee_atomic: string) =>
      service.query(
        `insert into settlement_fee_day values (${today}, $1, 1) on conflict (day) do update set fee_atomic = $1`,
        [fee_atomic],
      );
    const refused = await released('fee_too_high', () => count('99999999'));
    await unworkedFor();
    await count('0');
    await paysInTheEnd(refused);
  });

  it('unavailable, while no key has gas', async () => {
    const refused = await released('unavailable', () => fill(0n));
    await fill(10n ** 18n);
    await paysInTheEnd(refused);
  });
});
