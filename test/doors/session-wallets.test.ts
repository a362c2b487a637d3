import { concatHex, getContractAddress, type Hex, parseErc6492Signature, serializeErc6492Signature } from 'viem';
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts';
import { beforeAll, describe, expect, it } from 'vitest';
import { ask, CHAT, openService, type Service } from '../harness/doors/open-service.ts';
import { delegate, signRevocation } from '../harness/session/delegate.ts';
import { type ContractWallet, openWallets, SPONSOR, type TestWallets } from '../harness/wallets.ts';

/* Grants and revocations by payers whose wallets are contracts. */

/** Contracts that are allowed as wallet factories. The second one makes no wallet. */
const [FACTORY, IDLE] = [0n, 1n].map(nonce => getContractAddress({ from: privateKeyToAddress(SPONSOR), nonce })) as [
  Hex,
  Hex,
];

let service: Service;
let wallets: TestWallets;
beforeAll(async () => {
  service = await openService({ WALLET_FACTORIES: `${FACTORY},${IDLE}` });
  wallets = openWallets(service.chain);
  await wallets.deploy('WalletFactory');
  await wallets.deploy('IdleFactory');
});

type Signer = Parameters<typeof delegate>[0];
const kinds: [title: string, make: () => Promise<ContractWallet>][] = [
  ['a contract (ERC-1271)', () => wallets.plain()],
  ['a contract that takes 66 bytes', () => wallets.tagged()],
  ['a contract that is still to be made (ERC-6492)', () => wallets.unmade(FACTORY)],
];

it.each(kinds)('a payer that is %s grants a session, and revokes it', async (_, make) => {
  const wallet = await make();
  const signer = wallet as unknown as Signer;
  const agent = privateKeyToAccount(generatePrivateKey());
  const forged = await delegate(privateKeyToAccount(generatePrivateKey()), wallet, agent);
  const payment = await service.payment(wallet, CHAT);
  const refused = await service.post(CHAT, ask('Forged'), { ...payment, ...forged.headers });
  expect(refused).toMatchObject({ status: 400, body: { code: 'delegation_invalid', charged: false } });
  const session = await delegate(signer, wallet, agent);
  const { status, body } = await service.buy(wallet, ask('Granted'), session.headers);
  expect({ status, body }).toMatchObject({ status: 200, body: { svc: { delegation_hash: session.delegation_hash } } });
  const path = `/v1/sessions/${session.delegation_hash}`;
  const signed = await signRevocation(signer, session.delegation_hash);
  expect(await service.post(`${path}/revoke`, signed)).toMatchObject({ status: 200, body: { payer: wallet.address } });
  expect((await service.get(path)).body).toMatchObject({ status: 'revoked' });
});

type Typed = Parameters<ContractWallet['signTypedData']>;

/** A signer that signs the typed data of sessions with `sign`. The wallet itself still signs payments. */
const signing = (sign: (...typed: Typed) => Promise<Hex>) => ({ signTypedData: sign }) as unknown as Signer;

/**
 * Expects that a grant by this signer is refused without a charge, that the same payment can buy under a valid grant, and that the signer's
 * revocation is refused too.
 */
async function refusesBoth(wallet: ContractWallet, signer: Signer): Promise<void> {
  const agent = privateKeyToAccount(generatePrivateKey());
  const payment = await service.payment(wallet, CHAT);
  const { headers } = await delegate(signer, wallet, agent);
  const refused = await service.post(CHAT, ask('Refused'), { ...payment, ...headers });
  expect(refused).toMatchObject({ status: 400, body: { code: 'delegation_invalid', charged: false } });
  expect(await service.transfersFrom(wallet)).toEqual([]);
  const session = await delegate(wallet as unknown as Signer, wallet, agent);
  expect((await service.post(CHAT, ask('Granted'), { ...payment, ...session.headers })).status).toBe(200);
  const path = `/v1/sessions/${session.delegation_hash}`;
  const signed = await signRevocation(signer, session.delegation_hash);
  const still = await service.post(`${path}/revoke`, signed);
  expect(still).toMatchObject({ status: 400, body: { code: 'revocation_invalid' } });
  expect((await service.get(path)).body).toMatchObject({ status: 'active' });
}

describe('a contract (ERC-1271) whose owner has signed, and that', () => {
  it.each([
    ['reverts', '0x02'],
    ['burns all gas that it is given', '0x03'],
    ['answers with the magic value of the draft', '0x04'],
    ['answers nothing', '0x05'],
    ['answers true', '0x06'],
  ] as const)('%s: 400 for its grant, uncharged, and for its revocation', async (_, mood) => {
    const wallet = await wallets.moody();
    await refusesBoth(
      wallet,
      signing(async (...typed) => concatHex([mood, await wallet.owner.signTypedData(...typed)])),
    );
  });
});

describe('a contract that is still to be made (ERC-6492)', () => {
  const rewrapped: [title: string, change: (wrapped: Hex) => Hex][] = [
    ['without its wrapper', wrapped => parseErc6492Signature(wrapped).signature],
    ['by a factory that makes nothing', wrapped => wrappedFor(wrapped, { address: IDLE })],
    ['by a factory that is not allowed', wrapped => wrappedFor(wrapped, { address: service.pay_to as Hex })],
    ['by a call that the factory does not know', wrapped => wrappedFor(wrapped, { data: '0x12345678' })],
  ];
  it.each(rewrapped)('%s: 400 for its grant, uncharged', async (_, change) => {
    const wallet = await wallets.unmade(FACTORY);
    const signer = signing(async (...typed) => change(await wallet.signTypedData(...typed)));
    const payment = await service.payment(wallet, CHAT);
    const { headers } = await delegate(signer, wallet, privateKeyToAccount(generatePrivateKey()));
    const refused = await service.post(CHAT, ask('Refused'), { ...payment, ...headers });
    expect(refused).toMatchObject({ status: 400, body: { code: 'delegation_invalid', charged: false } });
    expect(await service.transfersFrom(wallet)).toEqual([]);
    expect(await wallets.codeAt(wallet.address)).toBe('0x');
    expect((await service.post(CHAT, ask('Without it'), payment)).status).toBe(200);
  });
});

function wrappedFor(wrapped: Hex, changed: { readonly address?: Hex; readonly data?: Hex }): Hex {
  const { address = FACTORY, data = '0x', signature } = parseErc6492Signature(wrapped);
  return serializeErc6492Signature({ address, data, signature, ...changed });
}
