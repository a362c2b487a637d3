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
 * A Solana of its own with the USDC mint, closed after the file's last test. It runs in the test's own process and keeps
 * no journal: as a process it would cost a start of Node and a keeper.
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

/** The same as a process of its own, which can be killed and restarts from its journal. */
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
    /** Starts it again from its journal after its end, or adopts it if it still runs; on the same port. */
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
    /** A fee payer with lamports to settle with. */
    fee_payer: developmentFeePayer,
    call,
    /** Adds funds to the owner, and creates the USDC account if it does not exist. */
    fund,
    /** An unused wallet with that much USDC. */
    async newWallet(usdc_atomic = 1_000_000_000n): Promise<SolanaWallet & { readonly signer: KeyPairSigner }> {
      const wallet = solanaWallet(randomBytes(32));
      if (usdc_atomic > 0n) await fund(wallet.address, { usdc_atomic });
      return { ...wallet, signer: await signerOf(wallet) };
    },
    /** An address whose USDC account exists and is empty. */
    async newTreasury(): Promise<string> {
      const { address } = solanaWallet(randomBytes(32));
      await fund(address, {});
      return address;
    },
    balanceOf: async (owner: string) => {
      const { value } = await call<{ value: { amount: string } }>('getTokenAccountBalance', await usdcAccountOf(owner));
      return BigInt(value.amount);
    },
    /** Every USDC transfer that ever reached an owner, in the chain's order. */
    transfers: (owner: string) => transfersTo(call, owner),
    advance: (slots: number) => call('dev_advanceSlots', slots),
    /** Sets the length of a slot: ten seconds make a blockhash outlive any test. */
    pace: (slot_ms: number) => call('dev_pace', slot_ms),
    /** Makes everything so far final. */
    finalize: () => call('dev_advanceSlots', 33),
    /** Expires all blockhashes: no transaction signed before can land any more, though that is not final yet. */
    expire: () => call('dev_expireBlockhashes'),
    /** Takes transactions and holds them; `false` executes those that are still valid. */
    stall: (on = true) => call('dev_stall', on),
    /** Signatures of the held transactions. */
    waiting: () => call<string[]>('dev_waiting'),
    drop: () => call('dev_drop'),
    /** Takes a transaction back, as an abandoned fork does. */
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

/** Changes of USDC by a transaction, by owner. */
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
