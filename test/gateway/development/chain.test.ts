import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  type Hex,
  http,
  parseAbi,
  parseSignature,
  toHex,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { base } from 'viem/chains';
import { describe, expect, it } from 'vitest';
import { developmentBuyers, developmentFacilitators } from '../../../gateway/development/chain/accounts.ts';
import { startHeartbeat } from '../../../gateway/development/chain/heartbeat.ts';
import { type RunningChain, startBaseChain } from '../../../gateway/development/chain/start.ts';
import type { ProcessMark } from '../../../gateway/operations/process-identity.ts';
import { networks } from '../../../schema/network.ts';
import { signTransfer } from '../../harness/base/wallet.ts';
import { freshChain } from '../../harness/chain.ts';
import { runChild } from '../../harness/development/child.ts';
import { atEnd } from '../../harness/release.ts';
import { clearScratch, makeScratch } from '../../harness/scratch.ts';

const { usdc, multicall3 } = networks.base;
const abi = parseAbi([
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function version() view returns (string)',
  'function decimals() view returns (uint8)',
  'function totalSupply() view returns (uint256)',
  'function balanceOf(address) view returns (uint256)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function authorizationState(address, bytes32) view returns (bool)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function aggregate3((address target, bool allowFailure, bytes callData)[] calls) payable returns ((bool success, bytes returnData)[])',
  'function initialize(string, string, string, uint8, address, address, address, address)',
]);
const PAY_TO = '0x2222222222222222222222222222222222222222';

/** USDC's EIP-712 domain separator on Base mainnet, as block explorers show it. */
const MAINNET_SEPARATOR = '0x02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f';

function clients(rpc_url: string) {
  const transport = http(rpc_url, { retryCount: 0 });
  const account = privateKeyToAccount(developmentFacilitators[0]?.private_key ?? '0x');
  return {
    reader: createPublicClient({ chain: base, transport, pollingInterval: 5 }),
    writer: createWalletClient({ chain: base, transport, account }),
  };
}

type Account = ReturnType<typeof privateKeyToAccount>;

async function authorisation(account: Account, value: bigint, nonce_number: number) {
  const nonce = toHex(nonce_number, { size: 32 });
  const message = { from: account.address, to: PAY_TO, value, validAfter: 0n, validBefore: 2n ** 40n, nonce } as const;
  const signature = await signTransfer(account, message);
  const { r, s, v } = parseSignature(signature);
  const facts = [account.address, PAY_TO, value, 0n, 2n ** 40n, nonce] as const;
  return { nonce, split: [...facts, Number(v), r, s] as const, whole: [...facts, signature] as const };
}

async function scratch(): Promise<string> {
  const folder = await makeScratch();
  atEnd(() => clearScratch(folder));
  return folder;
}

/** One real payment of `amount` by the first development buyer; its receipt. */
async function pay(rpc_url: string, amount: bigint, nonce_number: number) {
  const { reader, writer } = clients(rpc_url);
  const buyer = privateKeyToAccount(developmentBuyers[0]?.private_key ?? '0x');
  const { split } = await authorisation(buyer, amount, nonce_number);
  const hash = await writer.writeContract({
    address: usdc,
    abi,
    functionName: 'transferWithAuthorization',
    args: split,
  });
  return reader.waitForTransactionReceipt({ hash });
}

function balance(rpc_url: string, address: string): Promise<bigint> {
  return clients(rpc_url).reader.readContract({
    address: usdc,
    abi,
    functionName: 'balanceOf',
    args: [address as Hex],
  });
}

describe('USDC on the development chain', async () => {
  const chain = await freshChain();
  const { reader, writer } = clients(chain.rpc_url);
  const read = (functionName: 'name' | 'symbol' | 'version' | 'decimals' | 'totalSupply' | 'DOMAIN_SEPARATOR') =>
    reader.readContract({ address: usdc, abi, functionName });

  it('is what mainnet has: names, decimals and the domain that signatures are made for', async () => {
    expect(await Promise.all([read('name'), read('symbol'), read('version'), read('decimals')])).toEqual([
      'USD Coin',
      'USDC',
      '2',
      6,
    ]);
    expect(await read('DOMAIN_SEPARATOR')).toBe(MAINNET_SEPARATOR);
    expect(await reader.getChainId()).toBe(8453);
  });

  it('its supply is what its holders hold, and it cannot be initialised again', async () => {
    const held = await Promise.all(developmentBuyers.map(({ address }) => balance(chain.rpc_url, address)));
    expect(held).toEqual(Array.from({ length: 5 }, () => 1_000_000_000n));
    expect(await read('totalSupply')).toBe(5_000_000_000n);
    const args = ['x', 'x', 'x', 6, PAY_TO, PAY_TO, PAY_TO, PAY_TO] as const;
    await expect(reader.simulateContract({ address: usdc, abi, functionName: 'initialize', args })).rejects.toThrow(
      /already initialized/,
    );
  });

  it('mint gives a new wallet USDC that it can spend by an authorisation, once', async () => {
    const wallet = await chain.newWallet(5_000n);
    const { split, nonce } = await authorisation(wallet, 2_000n, 1);
    const request = { address: usdc, abi, functionName: 'transferWithAuthorization', args: split } as const;
    const receipt = await reader.waitForTransactionReceipt({ hash: await writer.writeContract(request) });
    expect(receipt.status).toBe('success');
    expect(await chain.balanceOf(wallet.address)).toBe(3_000n);
    expect(
      await reader.readContract({
        address: usdc,
        abi,
        functionName: 'authorizationState',
        args: [wallet.address, nonce],
      }),
    ).toBe(true);
    await expect(writer.writeContract(request)).rejects.toThrow(/authorization is used/);
    const transfer = {
      tx_hash: receipt.transactionHash,
      from: wallet.address.toLowerCase(),
      to: PAY_TO,
      amount_atomic: 2_000n,
    };
    expect(await chain.transfers(PAY_TO)).toMatchObject([transfer]);
  });

  it('Multicall3 settles several at once, one bad among them harming nobody; signatures in one piece pass too', async () => {
    const wallet = await chain.newWallet(10_000n);
    const made = await Promise.all([
      authorisation(wallet, 2_000n, 1),
      authorisation(wallet, 50_000n, 2),
      authorisation(wallet, 3_000n, 3),
    ]);
    const calls = made.map(({ whole }) => ({
      target: usdc,
      allowFailure: true,
      callData: encodeFunctionData({ abi, functionName: 'transferWithAuthorization', args: whole }),
    }));
    const before = await chain.balanceOf(PAY_TO);
    const { result, request } = await reader.simulateContract({
      address: multicall3,
      abi,
      functionName: 'aggregate3',
      args: [calls],
      account: writer.account,
    });
    expect(result.map(({ success }) => success)).toEqual([true, false, true]);
    await reader.waitForTransactionReceipt({ hash: await writer.writeContract(request) });
    expect((await chain.balanceOf(PAY_TO)) - before).toBe(5_000n);
  });
});

describe('the heartbeat', () => {
  it('makes the last payment final although nobody pays after it', async () => {
    const chain = await freshChain();
    const { blockNumber } = await pay(chain.rpc_url, 2_000n, 1);
    atEnd(startHeartbeat(chain.rpc_url));
    const { reader } = clients(chain.rpc_url);
    const finalised = async () => (await reader.getBlock({ blockTag: 'finalized' })).number;
    await expect.poll(finalised).toBeGreaterThanOrEqual(blockNumber);
  });
});

describe('the development chain of a DATA_DIR', () => {
  it('keeps balances, receipts, events and block 0 over a stop and a start', async () => {
    const folder = await scratch();
    const first = await startBaseChain(folder);
    const receipt = await pay(first.rpc_url, 2_000n, 1);
    await first.stop();
    const second = await startBaseChain(folder);
    expect(second).toMatchObject({ rpc_url: first.rpc_url, genesis_hash: first.genesis_hash, adopted: false });
    const { reader } = clients(second.rpc_url);
    expect(await reader.getTransactionReceipt({ hash: receipt.transactionHash })).toEqual(receipt);
    expect((await reader.getLogs({ address: usdc, fromBlock: 0n })).map(log => log.transactionHash)).toContain(
      receipt.transactionHash,
    );
    expect((await reader.getBlock({ blockNumber: receipt.blockNumber })).hash).toBe(receipt.blockHash);
    expect(await balance(second.rpc_url, PAY_TO)).toBe(2_000n);
    await pay(second.rpc_url, 2_000n, 2);
    expect(await balance(second.rpc_url, PAY_TO)).toBe(4_000n);
  });

  it('outlives a kill of the process that started it, and is adopted by the next with nothing lost', async () => {
    const folder = await scratch();
    const child = await runChild<RunningChain>('test/harness/development/stand-in.child.ts', 'chain', folder);
    await pay(child.first_line.rpc_url, 2_000n, 1);
    await child.end('SIGKILL');
    const adopted = await startBaseChain(folder);
    expect(adopted).toMatchObject({
      adopted: true,
      rpc_url: child.first_line.rpc_url,
      genesis_hash: child.first_line.genesis_hash,
    });
    expect(await balance(adopted.rpc_url, PAY_TO)).toBe(2_000n);
  });

  it('a node that was killed before it ever saved gives way to a new chain, told by another block 0', async () => {
    const folder = await scratch();
    const first = await startBaseChain(folder, { save_seconds: 3_600 });
    const { mark } = JSON.parse(await readFile(join(folder, 'chain', 'anvil.json'), 'utf8')) as { mark: ProcessMark };
    process.kill(mark.pid, 'SIGKILL');
    const second = await startBaseChain(folder);
    expect(second.genesis_hash).not.toBe(first.genesis_hash);
    expect(await balance(second.rpc_url, developmentBuyers[0]?.address ?? '')).toBe(1_000_000_000n);
  });
});
