import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { createKeyPairSignerFromBytes, getBase58Encoder, type KeyPairSigner } from '@solana/kit';
import { rpc } from '../../gateway/development/chain/rpc.ts';
import { genesisAccounts } from '../../gateway/development/svm/accounts.ts';
import { LiteChain } from '../../gateway/development/svm/chain.ts';
import type { Journal } from '../../gateway/development/svm/journal.ts';
import { methodsOf } from '../../gateway/development/svm/methods.ts';
import { serveRpc } from '../../gateway/development/svm/serve-rpc.ts';
import { startSvm } from '../../gateway/development/svm/start.ts';
import { developmentFeePayer, type SolanaWallet, solanaWallet } from '../../gateway/development/svm/wallets.ts';
import { usdcAccountOf } from '../../gateway/rails/solana/transfer.ts';
import type { Json } from '../../schema/canonical-json.ts';
import { networks } from '../../schema/network.ts';
import { idle_ms } from './idle.ts';
import { atEnd } from './release.ts';
import { clearScratch, makeScratch } from './scratch.ts';

export interface SolanaTransfer {
  readonly signature: string;
  readonly slot: number;
  readonly from: string;
  readonly amount_atomic: bigint;
}

interface TokenBalance {
  readonly mint: string;
  readonly owner: string;
  readonly uiTokenAmount: { readonly amount: string };
}

interface TransactionStatus {
  readonly slot: number;
  readonly meta: {
    readonly err: Json;
    readonly preTokenBalances: readonly TokenBalance[];
    readonly postTokenBalances: readonly TokenBalance[];
  };
}

export type TestSvm = Awaited<ReturnType<typeof freshSvm>>;

/**
 * A Solana stand-in with the USDC mint, closed after the file's last test. It runs in the test's process and keeps no journal, because a
 * process would also have to start Node and a keeper.
 */
export async function freshSvm() {
  const journal: Journal = {
    genesis: { seed: randomBytes(32).toString('hex'), started_ms: Date.now() },
    past: [],
    append() {},
    close() {},
  };
  const chain = new LiteChain({ journal, genesis: await genesisAccounts(), now_ms: Date.now });
  const server = await serveRpc(0, methodsOf(chain));
  atEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  return svmAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

/** A Solana stand-in as a separate process, which can be killed and restarts from its journal. */
export async function svmProcess() {
  const folder = await makeScratch();
  const svm = await startSvm(folder, idle_ms);
  if (svm.kind === 'unsupported') throw new Error('there is no LiteSVM for this machine');
  atEnd(async () => {
    await svm.stop();
    await clearScratch(folder);
  });
  return {
    ...svmAt(svm.rpc_url),
    folder,
    genesis_hash: svm.genesis_hash,
    pid: svm.pid,
    /** Starts the process again from its journal on the same port, or reuses it if it still runs. */
    restart: () => startSvm(folder),
  };
}

function svmAt(rpc_url: string) {
  const call = <T = unknown>(method: string, ...params: Json[]) => rpc<T>(rpc_url, method, ...params);
  const fund = (owner: string, funds: { usdc_atomic?: bigint; lamports?: bigint }) =>
    call<string>('dev_fund', owner, {
      usdc_atomic: String(funds.usdc_atomic ?? 0n),
      lamports: String(funds.lamports ?? 0n),
    });
  return {
    rpc_url,
    /** A fee payer that has lamports to settle with. */
    fee_payer: developmentFeePayer,
    call,
    /** Adds funds to the owner and creates the USDC account if it does not exist. */
    fund,
    /** A new wallet with that much USDC. */
    async newWallet(usdc_atomic = 1_000_000_000n): Promise<SolanaWallet & { readonly signer: KeyPairSigner }> {
      const wallet = solanaWallet(randomBytes(32));
      if (usdc_atomic > 0n) await fund(wallet.address, { usdc_atomic });
      return { ...wallet, signer: await signerOf(wallet) };
    },
    /** A new address with an empty USDC account. */
    async newTreasury(): Promise<string> {
      const { address } = solanaWallet(randomBytes(32));
      await fund(address, {});
      return address;
    },
    balanceOf: async (owner: string) => {
      const { value } = await call<{ value: { amount: string } }>('getTokenAccountBalance', await usdcAccountOf(owner));
      return BigInt(value.amount);
    },
    /** All USDC transfers to an owner, in the chain's order. */
    transfers: (owner: string) => transfersTo(call, owner),
    advance: (slots: number) => call('dev_advanceSlots', slots),
    /** Sets the length of a slot. At ten seconds a blockhash stays valid longer than any test takes. */
    pace: (slot_ms: number) => call('dev_pace', slot_ms),
    /** Makes all blocks so far final. */
    finalize: () => call('dev_advanceSlots', 33),
    /** Expires all blockhashes. No transaction that was signed before can be executed from then on, though that is not final yet. */
    expire: () => call('dev_expireBlockhashes'),
    /** Accepts transactions but holds them. `false` executes those that are still valid. */
    stall: (on = true) => call('dev_stall', on),
    /** Signatures of the held transactions. */
    waiting: () => call<string[]>('dev_waiting'),
    drop: () => call('dev_drop'),
    /** Removes a transaction, as if its fork had been abandoned. */
    forget: (signature: string) => call('dev_forget', signature),
  };
}

export async function signerOf({ private_key }: SolanaWallet): Promise<KeyPairSigner> {
  return createKeyPairSignerFromBytes(getBase58Encoder().encode(private_key));
}

async function transfersTo(
  call: <T>(method: string, ...params: Json[]) => Promise<T>,
  owner: string,
): Promise<SolanaTransfer[]> {
  const account = await usdcAccountOf(owner);
  const options = { commitment: 'confirmed' };
  const rows = await call<{ signature: string }[]>('getSignaturesForAddress', account, options);
  const found: SolanaTransfer[] = [];
  for (const { signature } of rows.reverse()) {
    const landed = await call<TransactionStatus>('getTransaction', signature, {
      ...options,
      maxSupportedTransactionVersion: 0,
    });
    const moved = movesOf(landed);
    const amount_atomic = moved.get(owner) ?? 0n;
    const from = [...moved].find(([, change]) => change < 0n)?.[0] ?? '';
    if (amount_atomic > 0n) found.push({ signature, slot: landed.slot, from, amount_atomic });
  }
  return found;
}

/** Change of each owner's USDC by a transaction. */
function movesOf({ meta }: TransactionStatus): Map<string, bigint> {
  const moved = new Map<string, bigint>();
  const add = (balances: readonly TokenBalance[], sign: bigint) => {
    for (const { mint, owner, uiTokenAmount } of balances)
      if (mint === networks.solana.usdc)
        moved.set(owner, (moved.get(owner) ?? 0n) + sign * BigInt(uiTokenAmount.amount));
  };
  add(meta.preTokenBalances, -1n);
  add(meta.postTokenBalances, 1n);
  return moved;
}
