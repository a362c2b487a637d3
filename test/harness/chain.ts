import { setTimeout as sleep } from 'node:timers/promises';
import { encodeFunctionData, type Hex, pad, parseAbi } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { inject } from 'vitest';
import { developmentFacilitators, usdcAdmin } from '../../gateway/development/chain/accounts.ts';
import { rpc } from '../../gateway/development/chain/rpc.ts';
import { type ChainOptions, startBaseChain } from '../../gateway/development/chain/start.ts';
import { networks } from '../../schema/network.ts';
import { idle_ms } from './idle.ts';
import { atEnd } from './release.ts';
import { clearScratch, makeScratch } from './scratch.ts';

const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const abi = parseAbi([
  'function mint(address to, uint256 amount)',
  'function balanceOf(address) view returns (uint256)',
]);

export interface TransferEvent {
  readonly tx_hash: string;
  /** Index of the event within its block. */
  readonly log_index: number;
  readonly block_number: number;
  readonly from: string;
  readonly to: string;
  readonly amount_atomic: bigint;
}

/** Interval at which the chain's time is set. Its time is never further behind than this. */
const TIME_TOLD_MS = 500;

interface Log {
  readonly transactionHash: string;
  readonly logIndex: string;
  readonly blockNumber: string;
  readonly topics: readonly string[];
  readonly data: string;
}

export type TestChain = Awaited<ReturnType<typeof freshChain>>;

/** A Base stand-in with real USDC that only this file uses, closed after the file's last test. By default it is kept in memory only. */
export async function freshChain(options: ChainOptions = { save_seconds: null }) {
  const folder = await makeScratch();
  atEnd(() => clearScratch(folder));
  const { rpc_url, genesis_hash, stop } = await startBaseChain(folder, {
    idle_ms,
    kept_in: inject('run_folder'),
    ...options,
  });
  atEnd(stop);
  const call = <T = unknown>(method: string, ...params: Parameters<typeof rpc>[2][]) =>
    rpc<T>(rpc_url, method, ...params);
  let minted: Promise<void> = Promise.resolve();
  const mint = (to: string, amount_atomic: bigint) => {
    // One after the other, because the node gives two transactions that arrive together the same nonce.
    const next = minted.catch(() => {}).then(() => mintUsdc(rpc_url, to, amount_atomic));
    minted = next;
    return next;
  };
  return {
    rpc_url,
    genesis_hash,
    /** Private keys of accounts that have ETH to settle with. */
    facilitator_keys: developmentFacilitators.map(wallet => wallet.private_key),
    /** Calls any method of the node, such as anvil_*, evm_* and eth_*. */
    call,
    mint,
    /** A new wallet with that much USDC. */
    async newWallet(amount_atomic = 1_000_000_000n): Promise<PrivateKeyAccount & { readonly private_key: Hex }> {
      const private_key = generatePrivateKey();
      const account = privateKeyToAccount(private_key);
      if (amount_atomic > 0n) await mint(account.address, amount_atomic);
      return { ...account, private_key };
    },
    async balanceOf(address: string): Promise<bigint> {
      const data = encodeFunctionData({ abi, functionName: 'balanceOf', args: [address as Hex] });
      return BigInt(await call<string>('eth_call', { to: networks.base.usdc, data }, 'latest'));
    },
    /** All USDC transfers to an address, in the chain's order. */
    transfers: (pay_to: string) => transfersTo(rpc_url, pay_to),
    /**
     * Keeps the chain's time equal to this machine's until the returned function is called. Without it each block is a second later than
     * the one before, so after many blocks a fresh signature would already have expired.
     */
    async followTime(): Promise<() => void> {
      await call('anvil_setBlockTimestampInterval', 0);
      // The node refuses a time that is not after its newest block, and a time that was set within the same second.
      const tell = () => call('evm_setNextBlockTimestamp', Math.floor(Date.now() / 1_000)).catch(() => {});
      const telling = setInterval(tell, TIME_TOLD_MS).unref();
      await tell();
      return () => clearInterval(telling);
    },
    mine: (blocks = 1) => call('anvil_mine', `0x${blocks.toString(16)}`),
    /** If false, transactions wait in the pool until `mine` is called. */
    setAutomine: (on: boolean) => call('evm_setAutomine', on),
    setIntervalMining: (seconds: number) => call('evm_setIntervalMining', seconds),
    /** Moves the chain's clock forward and mines a block with the new time. */
    async passTime(seconds: number): Promise<void> {
      await call('evm_increaseTime', seconds);
      await call('anvil_mine', '0x1');
    },
  };
}

async function transfersTo(rpc_url: string, pay_to: string): Promise<TransferEvent[]> {
  const filter = {
    address: networks.base.usdc,
    fromBlock: '0x0',
    toBlock: 'latest',
    topics: [TRANSFER_TOPIC, null, pad(pay_to as Hex)],
  };
  const logs = await rpc<Log[]>(rpc_url, 'eth_getLogs', filter);
  return logs.map(log => ({
    tx_hash: log.transactionHash,
    log_index: Number(log.logIndex),
    block_number: Number(log.blockNumber),
    from: `0x${log.topics[1]?.slice(26)}`,
    to: `0x${log.topics[2]?.slice(26)}`,
    amount_atomic: BigInt(log.data),
  }));
}

/** Mints by USDC's own minter account, which the node signs for. */
async function mintUsdc(rpc_url: string, to: string, amount_atomic: bigint): Promise<void> {
  const data = encodeFunctionData({ abi, functionName: 'mint', args: [to as Hex, amount_atomic] });
  const transaction = { from: usdcAdmin.address, to: networks.base.usdc, data };
  const hash = await rpc<string>(rpc_url, 'eth_sendTransaction', transaction);
  for (let tries = 0; tries < 500; tries++) {
    const receipt = await rpc<{ status: string } | null>(rpc_url, 'eth_getTransactionReceipt', hash);
    if (receipt?.status === '0x1') return;
    if (receipt) throw new Error(`the mint ${hash} was reverted`);
    await sleep(5);
  }
  throw new Error(`the mint ${hash} is not mined: does the chain mine by itself?`);
}
