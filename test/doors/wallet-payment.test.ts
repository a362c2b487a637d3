import {
  encodeFunctionData,
  getContractAddress,
  type Hex,
  parseAbi,
  parseErc6492Signature,
  serializeErc6492Signature,
} from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { beforeAll, describe, expect, it } from 'vitest';
import { networks } from '../../schema/network.ts';
import { payingFetch } from '../harness/buyer.ts';
import { makePayment, type SignedPayment } from '../harness/doors/make-payment.ts';
import {
  ask,
  CHAT,
  type ChallengeBody,
  type Chat,
  openService,
  PRICE,
  type Service,
} from '../harness/doors/open-service.ts';
import { type ContractWallet, openWallets, SPONSOR, type TestWallets } from '../harness/wallets.ts';

/** Addresses of the first contracts of these tests, which the service needs at its start. */
const contractOf = (nonce: bigint) => getContractAddress({ from: privateKeyToAddress(SPONSOR), nonce });
const [FACTORY, IDLE_FACTORY] = [contractOf(0n), contractOf(1n)];
const NOT_SIGNED = 'invalid_exact_evm_payload_signature';
const usdc = parseAbi(['function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)']);

let service: Service;
let wallets: TestWallets;
let delegate: Hex;
beforeAll(async () => {
  service = await openService({ WALLET_FACTORIES: `${FACTORY},${IDLE_FACTORY}` });
  wallets = openWallets(service.chain);
  expect((await wallets.deploy('WalletFactory')).toLowerCase()).toBe(FACTORY.toLowerCase());
  expect((await wallets.deploy('IdleFactory')).toLowerCase()).toBe(IDLE_FACTORY.toLowerCase());
  delegate = await wallets.deploy('Delegate');
});

const kinds: [title: string, make: () => Promise<ContractWallet>][] = [
  ["a contract that takes its owner's 65 bytes", () => wallets.plain()],
  ['a contract that takes 66 bytes', () => wallets.tagged()],
  ['a contract that is still to be made (ERC-6492)', () => wallets.unmade(FACTORY)],
  ['a key that has delegated to a contract (EIP-7702)', () => wallets.delegated(delegate)],
];

const word = ({ status, body }: { status: number; body: ChallengeBody }) => ({ status, error: body.error });
/** Parts of an answer that must be the same in each repetition. */
const bought = ({ body: { choices, svc } }: { body: Chat }) => [choices, svc.payload_hash, svc.issuer_signature];
const hubCalls = () => service.hubs.reduce((sum, { requests }) => sum + requests.length, 0);

/** Submits a payment from another account, as EIP-3009 allows any account to do. */
async function submitElsewhere({ message, signature }: SignedPayment): Promise<void> {
  const { from, to, value, validAfter, validBefore, nonce } = message;
  // The wallet is deployed by now, so the deployment data of the signature is removed.
  const signed = parseErc6492Signature(signature).signature;
  const args = [from, to, value, validAfter, validBefore, nonce, signed] as const;
  const data = encodeFunctionData({ abi: usdc, functionName: 'transferWithAuthorization', args });
  await wallets.call(networks.base.usdc, data);
}

describe.each(kinds)('POST /v1/chat/completions paid by %s', (_, make) => {
  it('200 by the official client, again and again, and the same answer to the same payment', async () => {
    const wallet = await make();
    const { status, body } = await service.buy(wallet);
    expect(status).toBe(200);
    const receipt = (await service.get(`/receipt/${body.svc.task_id}`)).body;
    expect(receipt).toMatchObject({ caller_binding: { payer_wallet: wallet.address } });
    expect(await wallets.codeAt(wallet.address)).not.toBe('0x');

    const payment = await service.payment(wallet, CHAT);
    const first = await service.post<Chat>(CHAT, ask('Twice'), payment);
    const again = await service.post<Chat>(CHAT, ask('Twice'), payment);
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(bought(again)).toEqual(bought(first));
    expect(again.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
    expect(await service.transfersFrom(wallet)).toHaveLength(2);
  });

  it('200 by x402 v1', async () => {
    const wallet = await make();
    const heard = await service.knock<Chat>('POST', CHAT, { body: ask(), by: payingFetch(wallet, 1) });
    expect(heard.status).toBe(200);
    expect(await service.transfersFrom(wallet)).toHaveLength(1);
  });

  it('402 on a signature that is not its own: nobody works, nothing is claimed', async () => {
    const [wallet, stranger] = [await make(), await wallets.plain(0n)];
    const before = hubCalls();
    for (const signature of [
      await makePayment(service, { ...stranger, address: wallet.address }).then(made => made.signature),
      `0x${'00'.repeat(65)}`,
      '0x01',
      `0x${'ab'.repeat(700)}`,
    ]) {
      const { headers } = await makePayment(service, wallet, { signature: () => signature });
      expect(word(await service.post(CHAT, ask(), headers))).toEqual({ status: 402, error: NOT_SIGNED });
    }
    expect(hubCalls()).toBe(before);
    expect(await service.claimsOf(wallet)).toEqual([]);
    expect((await service.buy(wallet)).status).toBe(200);
  });

  it('200 though somebody else submitted the payment first: nothing is lost, and nothing is sent twice', async () => {
    const wallet = await make();
    if ((await wallets.codeAt(wallet.address)) === '0x') await service.buy(wallet);
    const made = await makePayment(service, wallet);
    await submitElsewhere(made);
    const before = (await service.transfersFrom(wallet)).length;
    expect((await service.post(CHAT, ask('Elsewhere'), made.headers)).status).toBe(200);
    expect(await service.transfersFrom(wallet)).toHaveLength(before);
    // The signature is checked even though the chain already shows the payment.
    const forged = await makePayment(service, wallet, {
      signed: made.message,
      signature: () => `0x01${'cd'.repeat(65)}`,
    });
    expect(word(await service.post(CHAT, ask('Elsewhere'), forged.headers))).toEqual({
      status: 402,
      error: NOT_SIGNED,
    });
  });
});

describe('POST /v1/chat/completions paid by a contract wallet', () => {
  it('402 where its factory is not allowed: nothing is made, and the official client is told why', async () => {
    const wallet = await wallets.unmade(await wallets.deploy('WalletFactory'));
    const heard = await service.post<ChallengeBody>(CHAT, ask(), await service.payment(wallet, CHAT));
    expect(word(heard)).toEqual({ status: 402, error: 'eip6492_factory_not_allowed' });
    expect(await wallets.codeAt(wallet.address)).toBe('0x');
    expect(await service.claimsOf(wallet)).toEqual([]);
  });

  /** Wraps any signature as in ERC-6492. */
  const wrapped = (signature: Hex) =>
    serializeErc6492Signature({ address: IDLE_FACTORY, data: '0x12345678', signature });
  const factoryCalls = async () =>
    BigInt(await service.chain.call<Hex>('eth_getStorageAt', IDLE_FACTORY, '0x0', 'latest'));

  it('402 where its factory makes nothing: nobody works, nothing is claimed, and no gas is spent', async () => {
    const before = hubCalls();
    const { headers, message } = await makePayment(service, await wallets.unmade(FACTORY), {
      signature: signed => wrapped(parseErc6492Signature(signed).signature),
    });
    expect(word(await service.post(CHAT, ask(), headers))).toEqual({ status: 402, error: NOT_SIGNED });
    expect(hubCalls()).toBe(before);
    expect(await service.claimsOf({ address: message.from })).toEqual([]);
    expect(await factoryCalls()).toBe(0n);
  });

  it("200 where a key's signature is wrapped as one: settled as any key's, and no factory is called for it", async () => {
    const [plain, wrapping] = [await service.chain.newWallet(), await service.chain.newWallet()];
    const gas = [];
    for (const [wallet, signature] of [[plain, undefined] as const, [wrapping, wrapped] as const]) {
      const { headers } = await makePayment(service, wallet, signature && { signature });
      expect((await service.post(CHAT, ask(), headers)).status).toBe(200);
      const [transfer] = await service.transfersFrom(wallet);
      const receipt = await service.chain.call<{ gasUsed: Hex }>('eth_getTransactionReceipt', transfer?.tx_hash ?? '');
      gas.push(Number(receipt.gasUsed));
    }
    expect(await factoryCalls()).toBe(0n);
    // The gas of calldata depends slightly on its values.
    expect(Math.abs((gas[1] ?? 0) - (gas[0] ?? 0))).toBeLessThan(1_000);
  });

  it('402 where it has delegated (EIP-7702) and signs by its key alone: its code has the word', async () => {
    const wallet = await wallets.delegated(delegate);
    const heard = await service.post<ChallengeBody>(CHAT, ask(), await service.payment(wallet.owner, CHAT));
    expect(word(heard)).toEqual({ status: 402, error: NOT_SIGNED });
    expect(await service.claimsOf(wallet)).toEqual([]);
  });

  it('402 insufficient_funds, and 200 once it is filled', async () => {
    const wallet = await wallets.tagged(0n);
    const payment = await service.payment(wallet, CHAT);
    expect(word(await service.post(CHAT, ask(), payment))).toEqual({ status: 402, error: 'insufficient_funds' });
    await service.chain.mint(wallet.address, PRICE);
    expect((await service.post(CHAT, ask(), payment)).status).toBe(200);
  });

  it('402 reverted where it burns its gas on the chain: whoever pays in that moment is not harmed', async () => {
    const payers = await Promise.all([1, 2, 3].map(() => service.chain.newWallet()));
    const burner = await wallets.burner();
    // All payments are simulated before any is sent, because the wallet refuses from the next block on.
    const held = service.gates.alpha.held();
    service.gates.alpha.hold();
    const bought = [burner, ...payers].map(payer => service.buy(payer, ask('At once', { model: 'alpha-1' })));
    await expect.poll(service.gates.alpha.held).toBe(held + bought.length);
    service.gates.alpha.open();
    const [burnt, ...others] = await Promise.all(bought);
    expect(burnt).toMatchObject({ status: 402, body: { error: 'reverted' } });
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await service.transfersFrom(burner)).toEqual([]);
    expect(await service.claimsOf(burner)).toEqual([{ state: 'released', reason: 'reverted' }]);

    await wallets.arm(burner);
    const payment = await service.payment(burner, CHAT);
    const before = hubCalls();
    expect(word(await service.post(CHAT, ask(), payment))).toEqual({ status: 402, error: 'payer_reverted_lately' });
    expect(hubCalls()).toBe(before);
    await service.query(`update payment_claim set moved_at = moved_at - interval '1 hour' where payer = $1`, [
      burner.address,
    ]);
    expect(word(await service.post(CHAT, ask(), payment))).toEqual({ status: 402, error: 'reverted' });
  });

  it('402 where it knows a simulation by its fee of nothing: it is simulated at the fee that is paid', async () => {
    const wallet = await wallets.of('FeeBurner');
    const before = hubCalls();
    const payment = await service.payment(wallet, CHAT);
    expect(word(await service.post(CHAT, ask(), payment))).toEqual({ status: 402, error: NOT_SIGNED });
    expect(hubCalls()).toBe(before);
    expect(await service.claimsOf(wallet)).toEqual([]);
  });

  it('402 reverted where it is switched off while the hub works; and its answer is still owed after it has paid', async () => {
    const wallet = await wallets.plain();
    const paid = await service.payment(wallet, CHAT);
    const first = await service.post<Chat>(CHAT, ask('Paid', { model: 'alpha-1' }), paid);
    const before = service.gates.alpha.held();
    service.gates.alpha.hold();
    const late = service.post<ChallengeBody>(
      CHAT,
      ask('Late', { model: 'alpha-1' }),
      await service.payment(wallet, CHAT),
    );
    await expect.poll(service.gates.alpha.held).toBe(before + 1);
    await wallets.switchOff(wallet);
    service.gates.alpha.open();
    expect(word(await late)).toEqual({ status: 402, error: 'reverted' });
    expect(await service.claimsOf(wallet)).toContainEqual({ state: 'released', reason: 'reverted' });
    expect(await service.transfersFrom(wallet)).toHaveLength(1);

    const again = await service.post<Chat>(CHAT, ask('Paid', { model: 'alpha-1' }), paid);
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(bought(again)).toEqual(bought(first));
    await service.query(`delete from payment_claim where payer = $1 and reason = 'reverted'`, [wallet.address]);
    expect(word(await service.post(CHAT, ask(), await service.payment(wallet, CHAT)))).toMatchObject({
      error: NOT_SIGNED,
    });
  });

  it('503 chain_unavailable, not charged, and 200 by the same payment once the chain is back', async () => {
    const wallet = await wallets.tagged();
    const payment = await service.payment(wallet, CHAT);
    service.gates.base.cut();
    const away = await service.post(CHAT, ask(), payment);
    expect(away).toMatchObject({ status: 503, body: { code: 'chain_unavailable', charged: false } });
    service.gates.base.open();
    expect((await service.post(CHAT, ask(), payment)).status).toBe(200);
    service.gates.base.cut();
    const replayed = await service.post(CHAT, ask(), payment);
    service.gates.base.open();
    expect(replayed.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
    expect(await service.transfersFrom(wallet)).toHaveLength(1);
  });
});
