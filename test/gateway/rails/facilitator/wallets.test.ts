import { getContractAddress, type Hex } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { payingFetch } from '../../../harness/buyer.ts';
import {
  auditArrivals,
  type FacilitatorService,
  openFacilitatorService,
} from '../../../harness/facilitator/open-service.ts';
import { type ContractWallet, openWallets, SPONSOR, type TestWallets } from '../../../harness/wallets.ts';
import type { RunningService } from '../../../harness/worker-gateway.ts';

/** Address of the first contract of these tests: service and facilitator must know it before they start. */
const FACTORY = getContractAddress({ from: privateKeyToAddress(SPONSOR), nonce: 0n });

let service: FacilitatorService;
let gateway: RunningService;
let wallets: TestWallets;
let delegate: Hex;
beforeAll(async () => {
  service = await openFacilitatorService({ factories: [FACTORY] });
  gateway = await service.start();
  wallets = openWallets(service.ground.chain);
  expect((await wallets.deploy('WalletFactory')).toLowerCase()).toBe(FACTORY.toLowerCase());
  delegate = await wallets.deploy('Delegate');
});

const kinds: readonly [title: string, make: () => Promise<ContractWallet>][] = [
  ["a contract that takes its owner's 65 bytes", () => wallets.plain()],
  ['a contract that takes 66 bytes', () => wallets.tagged()],
  ['a contract that is still to be made (ERC-6492)', () => wallets.unmade(FACTORY)],
  ['a key that has delegated to a contract (EIP-7702)', () => wallets.delegated(delegate)],
];

it.each(kinds)('a facilitator settles the payment of %s as it was signed', async (_, make) => {
  const wallet = await make();
  const answer = await payingFetch(wallet)(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Good day' }] }),
  });
  expect(answer.status).toBe(200);
  const { svc } = (await answer.json()) as { svc: JsonObject };
  expect(svc).toMatchObject({ payer_wallet: wallet.address, settled_by: 'observed_transfer' });
  const transfers = await service.ground.chain.transfers(service.ground.pay_to);
  expect(transfers.filter(({ from }) => from === wallet.address.toLowerCase())).toHaveLength(1);
  await auditArrivals(service);
});
