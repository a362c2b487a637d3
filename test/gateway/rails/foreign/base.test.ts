import { inspect } from 'node:util';
import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MULTICALL3 } from '../../../../gateway/rails/base/contracts.ts';
import {
  type OpenedForeignTransfers,
  openForeignTransfers,
} from '../../../../gateway/rails/foreign/open-foreign-transfers.ts';
import { atomicAmount } from '../../../../schema/amount.ts';
import type { Json, JsonObject } from '../../../../schema/canonical-json.ts';
import { limits } from '../../../../schema/limits.ts';
import { networks } from '../../../../schema/network.ts';
import type { ChainPosition, NamedTransfer } from '../../../../subgraphs/foreign-transfers.ts';
import { newAccount } from '../../../harness/base/wallet.ts';
import { freshChain, type TestChain } from '../../../harness/chain.ts';
import { foreignPartsOf } from '../../../harness/foreign.ts';
import { type LyingChain, startLyingChain } from '../../../harness/lying-chain.ts';
import { openWallets, type TestWallets } from '../../../harness/wallets.ts';

const abi = parseAbi([
  'function transfer(address to, uint256 amount) returns (bool)',
  'function approve(address spender, uint256 amount) returns (bool)',
  'function transferFrom(address from, address to, uint256 amount) returns (bool)',
  'function aggregate3((address target, bool allowFailure, bytes callData)[] calls)',
]);
const USDC = networks.base.usdc;
const payee = newAccount().address;

let chain: TestChain;
let node: LyingChain;
let payer: Hex;
let transfers: OpenedForeignTransfers;
let wallets: TestWallets;
beforeAll(async () => {
  chain = await freshChain();
  wallets = openWallets(chain);
  node = await startLyingChain(chain.rpc_url);
  transfers = await openForeignTransfers(foreignPartsOf({ base_rpc_url: node.url }));
  payer = await funded();
});
beforeEach(() => node.tellTruth());

/** A wallet with USDC and gas in whose name the node sends. */
async function funded(): Promise<Hex> {
  const { address } = await chain.newWallet(1_000_000n);
  await chain.call('anvil_setBalance', address, '0x56bc75e2d63100000');
  await chain.call('anvil_impersonateAccount', address);
  return address;
}

/** The node would choose fees by its newest blocks: the same transaction sent twice would have two hashes. */
const FEES = { maxFeePerGas: '0x174876e800', maxPriorityFeePerGas: '0x3b9aca00' } as const;

async function send(from: Hex, to: Hex, data: Hex): Promise<Hex> {
  const hash = await chain.call<Hex>('eth_sendTransaction', { from, to, data, gas: '0x7a120', ...FEES });
  for (;;) if (await chain.call('eth_getTransactionReceipt', hash)) return hash;
}

const paying = (to: Hex, amount: bigint) => encodeFunctionData({ abi, functionName: 'transfer', args: [to, amount] });
const pay = (amount = 2000n, to: Hex = payee) => send(payer, USDC, paying(to, amount));

const named = (transaction: Hex, changed: Partial<NamedTransfer> = {}): NamedTransfer => ({
  network: 'base',
  transaction,
  index: null,
  payer,
  pay_to: payee,
  amount_atomic: atomicAmount(2000n),
  ...changed,
});

const outcome = async (transaction: Hex, changed: Partial<NamedTransfer> = {}, asked = transfers) => {
  const seen = await asked.observe(named(transaction, changed));
  return seen.kind === 'not_believed' ? seen.reason : seen.kind;
};

async function observed(transaction: Hex, changed: Partial<NamedTransfer> = {}) {
  const seen = await transfers.observe(named(transaction, changed));
  if (seen.kind !== 'observed') throw new Error(inspect(seen));
  return seen;
}

describe('USDC that moved on Base', () => {
  it('is observed as its event has it, whoever is named as the payer', async () => {
    const hash = await pay();
    const [{ log_index, block_number } = { log_index: -1, block_number: -1 }] = await chain.transfers(payee);
    const seen = await observed(hash.toUpperCase().replace('0X', '0x') as Hex, { payer: null });
    expect(seen.transfer).toEqual({
      network: 'base',
      rail: 'usdc',
      asset: USDC,
      transaction: hash,
      index: log_index,
      payer,
      pay_to: payee,
      amount: '2000',
    });
    expect(seen.seen_in).toEqual({ block_number, block_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/), final: false });
  });

  it('is observed where a contract moved it, and by its index where there are several', async () => {
    await send(payer, USDC, encodeFunctionData({ abi, functionName: 'approve', args: [MULTICALL3, 10_000n] }));
    const moved = encodeFunctionData({ abi, functionName: 'transferFrom', args: [payer, payee, 2000n] });
    const call = { target: USDC as Hex, allowFailure: false, callData: moved };
    const twice = encodeFunctionData({ abi, functionName: 'aggregate3', args: [[call, call]] });
    const hash = await send(payer, MULTICALL3, twice);
    expect(await outcome(hash)).toBe('ambiguous');
    expect(await transfers.observe(named(hash))).toMatchObject({ transfer_indexes: [0, 1] });
    expect(await outcome(hash, { index: 0 })).toBe('observed');
    expect((await observed(hash, { index: 1 })).transfer.index).toBe(1);
    expect(await outcome(hash, { index: 2 })).toBe('no_such_transfer');
  });

  it('is believed once it is deep enough', async () => {
    const strict = await openForeignTransfers(foreignPartsOf({ base_rpc_url: node.url, profile: 'production' }));
    const hash = await pay();
    await chain.mine(limits.foreign_confirmations_min - 2);
    expect(await outcome(hash, {}, strict)).toBe('not_confirmed');
    await chain.mine(1);
    expect(await outcome(hash, {}, strict)).toBe('observed');
    expect((await observed(hash)).seen_in.final).toBe(true);
  });

  it.each<[string, Partial<NamedTransfer>]>([
    ['payer', { payer: newAccount().address }],
    ['payee', { pay_to: newAccount().address }],
    ['amount', { amount_atomic: atomicAmount(1999n) }],
    ['place', { index: 7 }],
  ])('is none of another %s', async (_, changed) => {
    expect(await outcome(await pay(), changed)).toBe('no_such_transfer');
  });

  it('is none where nothing moved, the transaction failed, or there is none', async () => {
    expect(await outcome(await pay(0n), { amount_atomic: atomicAmount(0n) })).toBe('no_such_transfer');
    expect(await outcome(await send(payer, payee, '0x'))).toBe('no_such_transfer');
    expect(await outcome(await pay(10n ** 15n))).toBe('reverted');
    expect(await outcome(`0x${'ab'.repeat(32)}`)).toBe('not_found');
  });
});

type Receipt = JsonObject & { readonly logs: readonly JsonObject[] };
const receipt = (lie: (truth: Receipt) => Json) => ({
  eth_getTransactionReceipt: (truth: Json) => (truth === null ? null : lie(truth as unknown as Receipt)),
});
const log = (change: JsonObject) =>
  receipt(truth => ({ ...truth, logs: truth.logs.map(one => ({ ...one, ...change })) }) as unknown as Json);
const address = (of: string) => `0x${of.slice(2).padStart(64, '0')}`;

describe('a node of Base that lies', () => {
  let hash: Hex;
  beforeAll(async () => {
    hash = await pay(2001n);
  });
  const meant = { amount_atomic: atomicAmount(2001n) };
  const transferred = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
  const other = `0x${'cd'.repeat(32)}`;

  it.each<[string, string, () => Parameters<LyingChain['lie']>[0]]>([
    ['of success, without a log', 'no_such_transfer', () => receipt(truth => ({ ...truth, logs: [] }))],
    ['by another token’s log', 'no_such_transfer', () => log({ address: newAccount().address })],
    ['by another event', 'no_such_transfer', () => log({ topics: [other, address(payer), address(payee)] })],
    ['of the payer', 'no_such_transfer', () => log({ topics: [transferred, address(payee), address(payee)] })],
    ['of the payee', 'no_such_transfer', () => log({ topics: [transferred, address(payer), address(payer)] })],
    ['of the amount', 'no_such_transfer', () => log({ data: `0x${'0'.repeat(63)}1` })],
    ['of failure', 'unknown', () => receipt(truth => ({ ...truth, status: '0x0' }))],
    ['by a log of another transaction', 'unknown', () => log({ transactionHash: other })],
    ['by a log of another block', 'unknown', () => log({ blockHash: other })],
    ['by a log of another height', 'unknown', () => log({ blockNumber: '0x1' })],
    ['by a log without a block', 'unknown', () => log({ blockHash: null })],
    [
      'by one log twice',
      'unknown',
      () => receipt(truth => ({ ...truth, logs: [...truth.logs, ...truth.logs] }) as unknown as Json),
    ],
    [
      'by the receipt of another transaction',
      'unknown',
      () => receipt(truth => ({ ...truth, transactionHash: other })),
    ],
    ['of the block that it is in', 'unknown', () => ({ ...receipt(truth => inBlock(truth, other)) })],
    ['of its height', 'unknown', () => ({ ...receipt(truth => ({ ...truth, blockNumber: '0x1' })) })],
    ['of the chain that it is of', 'unknown', () => ({ eth_chainId: () => '0x1' })],
    [
      'of a block that was replaced',
      'unknown',
      () => ({ eth_getBlockByNumber: truth => ({ ...(truth as JsonObject), hash: other }) }),
    ],
    ['of there being no blocks', 'unknown', () => ({ eth_getBlockByNumber: () => null })],
    ['by half an answer', 'unknown', () => ({ eth_getTransactionReceipt: () => undefined })],
    ['by no receipt', 'unknown', () => ({ eth_getTransactionReceipt: () => ({ status: '0x1' }) })],
  ])('%s is not believed: %s', async (_, expected, lies) => {
    node.lie(lies());
    expect(await outcome(hash, meant)).toBe(expected);
    node.tellTruth();
    expect(await outcome(hash, meant)).toBe('observed');
  });

  it.each(['huge', 'no_json'] as const)('answers by %s, which is no answer', async kind => {
    node.behave({ kind, methods: ['eth_getTransactionReceipt'] });
    expect(await outcome(hash, meant)).toBe('unknown');
  });
});

/** Copy of a receipt with another block hash in the receipt and in each of its logs, so that it does not contradict itself. */
function inBlock(truth: Receipt, blockHash: string): Json {
  return { ...truth, blockHash, logs: truth.logs.map(one => ({ ...one, blockHash })) } as unknown as Json;
}

describe('a transfer that was seen once', () => {
  it('is final once the finalized block has passed it', async () => {
    const { transfer, seen_in } = await observed(await pay());
    expect(await transfers.standing(transfer, seen_in)).toEqual({ kind: 'pending', seen_in });
    await chain.mine(5);
    expect(await transfers.standing(transfer, seen_in)).toEqual({ kind: 'final' });
    const another = { ...transfer, index: 5 };
    expect(await transfers.standing(another, seen_in)).toEqual({ kind: 'vanished' });
  });

  it('has vanished where the final chain has another block in its place, and nothing of it long after', async () => {
    const snapshot = await chain.call<string>('evm_snapshot');
    const { transfer, seen_in } = await observed(await pay());
    await chain.call('evm_revert', snapshot);
    await chain.mine(10);
    expect(await transfers.standing(transfer, seen_in)).toEqual({ kind: 'pending', seen_in });
    await chain.mine(limits.foreign_vanished_blocks_min + 5);
    expect(await transfers.standing(transfer, seen_in)).toEqual({ kind: 'vanished' });
  });

  it('has not vanished because a node lacks it, whatever it says of its receipt', async () => {
    const { transfer, seen_in } = await observed(await pay());
    await chain.mine(limits.foreign_vanished_blocks_min + 5);
    node.lie({ eth_getTransactionReceipt: () => null });
    expect(await transfers.standing(transfer, seen_in)).toEqual({ kind: 'unknown' });
    node.behave({ kind: 'no_json', methods: ['eth_getTransactionReceipt'] });
    expect(await transfers.standing(transfer, seen_in)).toEqual({ kind: 'unknown' });
  });

  it('moves to another block, and is final there', async () => {
    const snapshot = await chain.call<string>('evm_snapshot');
    const { transfer, seen_in } = await observed(await pay());
    await chain.call('evm_revert', snapshot);
    await chain.mine(2);
    expect(await pay()).toBe(transfer.transaction);
    const moved = await transfers.standing(transfer, seen_in);
    expect(moved).toMatchObject({ kind: 'pending', seen_in: { final: false } });
    expect((moved as { seen_in: ChainPosition }).seen_in.block_hash).not.toBe(seen_in.block_hash);
    await chain.mine(5);
    expect(await transfers.standing(transfer, seen_in)).toEqual({ kind: 'final' });
  });
});

describe('a text', () => {
  it('is signed by a key, or by a contract wallet as its code says', async () => {
    const text = 'svc.ingest|7|base:0xab|1790000000';
    for (const signer of [newAccount(), await wallets.plain(0n)]) {
      const by = { network: 'base', payer: signer.address, asker: '203.0.113.7' } as const;
      const signature = await signer.signMessage({ message: text });
      expect(await transfers.verifySigner(text, { ...by, signature })).toBe('valid');
      expect(await transfers.verifySigner(`${text}0`, { ...by, signature })).toBe('invalid');
      for (const none of ['', '0x', `0x${'ab'.repeat(6_001)}`])
        expect(await transfers.verifySigner(text, { ...by, signature: none })).toBe('invalid');
    }
    node.behave({ kind: 'cut' });
    const by = { network: 'base', payer: newAccount().address, asker: '203.0.113.7', signature: '0xab' } as const;
    expect(await transfers.verifySigner(text, by)).toBe('unreachable');
  });
});
