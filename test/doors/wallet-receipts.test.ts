import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { networks } from '../../schema/network.ts';
import { ask, openService, type Service } from '../harness/doors/open-service.ts';
import { monitorOnce } from '../harness/log/witness.ts';
import { ownFolder } from '../harness/scratch.ts';

type Account = Awaited<ReturnType<Service['chain']['newWallet']>>;

let service: Service;
let account: Account;
let other: Account;
const bought: string[] = [];
beforeAll(async () => {
  // Not the shared service, because the chain is set back to an earlier block, after which every payment would wait for the lost nonce.
  service = await openService();
  account = await service.chain.newWallet();
  other = await service.chain.newWallet();
  for (const content of ['one', 'two', 'three'])
    bought.push((await service.buy(account, ask(content))).body.svc.task_id);
  await service.buy(other, ask('another’s'));
});

const seconds = () => Math.floor(Date.now() / 1000);
const at = (wallet: string) => `/v1/wallets/${wallet}/receipts`;

async function proof(
  by: Account = account,
  { signed_at = seconds(), wallet = by.address as string, url = service.url } = {},
) {
  return { signed_at, signature: await by.signMessage({ message: `svc.receipts|${url}|${wallet}|${signed_at}` }) };
}

interface Page {
  readonly wallet: string;
  readonly receipts: readonly (JsonObject & { readonly task_id: string })[];
  readonly next: number | null;
}
const tasks = ({ receipts }: Page) => receipts.map(({ task_id }) => task_id);

describe('POST /v1/wallets/{wallet}/receipts', () => {
  it('200: the wallet’s own receipts in the order of the log, and nobody else’s', async () => {
    const { status, body } = await service.post<Page>(at(account.address.toLowerCase()), await proof());
    expect([status, body.wallet, tasks(body), body.next]).toEqual([200, account.address, bought, null]);
    const [first] = body.receipts;
    expect(first).toEqual((await service.get(`/receipt/${bought[0]}.json`)).body);
    const theirs = await service.post<Page>(at(other.address), await proof(other));
    expect(tasks(theirs.body).filter(id => bought.includes(id))).toEqual([]);
    expect(tasks(theirs.body)).toHaveLength(1);
    const none = await service.chain.newWallet(0n);
    expect((await service.post<Page>(at(none.address), await proof(none))).body.receipts).toEqual([]);
  });

  it('200: page by page', async () => {
    const found: string[] = [];
    for (let after: number | null = -1; after !== null; ) {
      const { body }: { body: Page } = await service.post<Page>(at(account.address), {
        ...(await proof()),
        after,
        limit: 2,
      });
      found.push(...tasks(body));
      after = body.next;
    }
    expect(found).toEqual(bought);
  });

  it('401 for a signature of another wallet, of another service, of another time, and for none at all', async () => {
    const refused = { status: 401, body: { code: 'control_proof_invalid' } };
    const wrong = [
      await proof(other),
      await proof(other, { wallet: account.address }),
      await proof(account, { url: 'https://svc.example' }),
      await proof(account, { signed_at: seconds() - 301 }),
      await proof(account, { signed_at: seconds() + 60 }),
      { ...(await proof()), signed_at: seconds() - 7 },
      { signed_at: seconds(), signature: '0x' },
    ];
    for (const shown of wrong) expect(await service.post(at(account.address), shown)).toMatchObject(refused);
  });

  it('400 for what is no address, and for a body that is none', async () => {
    expect(await service.post(at('0x12'), await proof())).toMatchObject({
      status: 400,
      body: { code: 'invalid_wallet' },
    });
    for (const more of [{ limit: 51 }, { limit: 0 }, { after: -2 }, { wallet: 'x' }, { signature: 1 }])
      expect(await service.post(at(account.address), { ...(await proof()), ...more })).toMatchObject({
        status: 400,
        body: { code: 'invalid_request' },
      });
  });
});

const abi = parseAbi(['function transfer(address to, uint256 amount) returns (bool)']);

/** Sends USDC to the treasury without a call of the service. */
async function sendDirectly(from: Account, amount: bigint): Promise<string> {
  const data = encodeFunctionData({ abi, functionName: 'transfer', args: [service.pay_to as Hex, amount] });
  await service.chain.call('anvil_impersonateAccount', from.address);
  await service.chain.call('anvil_setBalance', from.address, '0xde0b6b3a7640000');
  return service.chain.call<string>('eth_sendTransaction', { from: from.address, to: networks.base.usdc, data });
}

describe('npm run witness -- URL --wallet 0x…', () => {
  let state: string;
  const look = (environment: Record<string, string>, ...args: string[]) =>
    monitorOnce(service.url, state, environment, '--wallet', account.address, '--rpc', service.chain.rpc_url, ...args);
  const key = () => ({ WALLET_KEY: account.private_key });
  beforeAll(async () => {
    state = await ownFolder();
  });

  it('0: each receipt is signed, in the log, and has its transfer, and each transfer its receipt', async () => {
    const { code, text } = await look(key());
    expect(text).toContain('3 receipts are in the log and match a transfer to');
    expect([code, text.split('\n').at(-1)]).toEqual([0, 'No mismatch was found.']);
    expect(text).not.toContain(account.private_key.slice(2));
  });

  it('0 by a signature that was made elsewhere', async () => {
    const { signed_at, signature } = await proof();
    const file = join(state, 'signature');
    await writeFile(file, `${signed_at}:${signature}\n`);
    expect(await look({}, '--signature-file', file)).toMatchObject({ code: 0 });
  });

  it('1 where nothing signs for the wallet, another wallet does, or the chain is silent', async () => {
    expect(await look({})).toMatchObject({
      code: 1,
      text: expect.stringContaining(`svc.receipts|${service.url}|${account.address}|`),
    });
    expect(await look({ WALLET_KEY: other.private_key })).toMatchObject({
      code: 1,
      text: expect.stringContaining('is not the private key of'),
    });
    const silent = await monitorOnce(
      service.url,
      state,
      key(),
      '--wallet',
      account.address,
      '--rpc',
      `${service.url}/livez`,
    );
    expect(silent).toMatchObject({ code: 1, text: expect.stringContaining('Cannot check: the chain') });
  });

  it('1 where the node answers nonsense, or leaves out of its logs what its own receipts show', async () => {
    const lying = async (answers: Readonly<Record<string, unknown>>) => {
      const node = createServer(async (request, response) => {
        const asked = JSON.parse(await text(request)) as { readonly method: string };
        const body = JSON.stringify(asked);
        const headers = { 'content-type': 'application/json' };
        const honest = async () => (await fetch(service.chain.rpc_url, { method: 'POST', headers, body })).text();
        const lie = Object.hasOwn(answers, asked.method);
        response.end(lie ? JSON.stringify({ id: 1, result: answers[asked.method] }) : await honest());
      });
      await new Promise<void>(listening => node.listen(0, '127.0.0.1', listening));
      const { port } = node.address() as AddressInfo;
      const by = ['--wallet', account.address, '--rpc', `http://127.0.0.1:${port}`];
      const looked = await monitorOnce(service.url, state, key(), ...by).finally(() => node.close());
      return [looked.code, looked.text.split('\n').at(-1)];
    };
    expect(await lying({ eth_blockNumber: 'soon' })).toEqual([1, expect.stringMatching(/^Cannot check: the chain/)]);
    expect(await lying({ eth_getLogs: [] })).toEqual([1, expect.stringContaining('from its logs')]);
  });

  it('1: a transfer without a receipt is named', async () => {
    const tx = await sendDirectly(account, 123n);
    const { code, text } = await look(key());
    expect([code, text]).toEqual([1, expect.stringContaining(`TRANSFER WITHOUT RECEIPT: base:${tx}, log`)]);
    expect(text).toContain(`: 123 atomic USDC to ${service.pay_to.toLowerCase()}`);
    expect(text).toContain('Mismatches found: 1.');
  });

  it('1: a receipt whose transfer the chain does not have is named', async () => {
    const snapshot = await service.chain.call<string>('evm_snapshot');
    const { svc } = (await service.buy(account, ask('taken back'))).body;
    // The chain loses blocks, as behind a node on another fork.
    await service.chain.call('evm_revert', snapshot);
    const { code, text } = await look(key());
    expect([code, text]).toEqual([
      1,
      expect.stringContaining(`RECEIPT WITHOUT TRANSFER: ${svc.task_id}: the chain has no transfer of 2000`),
    ]);
  });
});
