import { getContractAddress } from 'viem';
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts';
import { beforeAll, expect, it } from 'vitest';
import { ask, CHAT, openService, type Service } from '../harness/doors/open-service.ts';
import { delegate, signRevocation } from '../harness/session/delegate.ts';
import { type ContractWallet, openWallets, SPONSOR, type TestWallets } from '../harness/wallets.ts';

/* Grants and revocations of payers that are no keys. */

const FACTORY = getContractAddress({ from: privateKeyToAddress(SPONSOR), nonce: 0n });

let service: Service;
let wallets: TestWallets;
beforeAll(async () => {
  service = await openService({ WALLET_FACTORIES: FACTORY });
  wallets = openWallets(service.chain);
  await wallets.deploy('WalletFactory');
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
