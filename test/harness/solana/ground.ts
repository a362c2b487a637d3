import { claimKey } from '../../../gateway/rails/payment.ts';
import type { Rail } from '../../../gateway/rails/rail.ts';
import type { CommitSettling, Sending, Settler } from '../../../gateway/rails/settler.ts';
import type { SolanaPayment } from '../../../gateway/rails/solana/authorization.ts';
import { openSvmChain } from '../../../gateway/rails/solana/open-svm-chain.ts';
import {
  type FeePayer,
  openFeePayer,
  openSolanaSettler,
  type SolanaSettlerOptions,
} from '../../../gateway/rails/solana/settler.ts';
import { openSolanaRail } from '../../../gateway/rails/solana/solana-rail.ts';
import { openSolanaJudge } from '../../../gateway/rails/solana/verify-transaction.ts';
import { systemRandom } from '../../../subgraphs/clock.ts';
import { Semaphore } from '../../../subgraphs/semaphore.ts';
import { settlementDatabase } from '../base/ground.ts';
import { atEnd } from '../release.ts';
import { freshSvm } from '../svm.ts';
import { makeTransaction, type TransactionParts } from './wallet.ts';

export type Item = SolanaPayment & { readonly claim_key: string };
export type SolanaGround = Awaited<ReturnType<typeof openSolanaGround>>;

/** A development Solana and a real database that only the test changes. */
export async function openSolanaGround() {
  const svm = await freshSvm();
  const database = await settlementDatabase();
  const chain = openSvmChain({ rpc_url: svm.rpc_url });
  atEnd(() => chain.close());
  const own = openFeePayer(svm.fee_payer.private_key);
  const pay_to = await svm.newTreasury();
  const sendings = new Map<string, Sending>();
  const lost = new Set<string>();
  const parts = { database, chain, random: systemRandom, fee_payer: own, commitSettling: committing(lost, sendings) };
  const settler = (changed: Partial<SolanaSettlerOptions<Item>> = {}): Settler<Item> => {
    const opened = openSolanaSettler<Item>({ ...parts, wait_ms: 3_000, poll_ms: 50, nudge_ms: 0, ...changed });
    atEnd(() => opened.close());
    return opened;
  };
  const rail = openSolanaRail({
    database,
    chain,
    chain_epoch: 0,
    own,
    fee_payer: own.address,
    pay_to,
    searches: new Semaphore({ at_once_max: 2, wait_ms_max: 1_000, waiting_per_asker_max: 4 }),
    settler: settler() as unknown as Rail<SolanaPayment>['settler'],
  });
  return {
    svm,
    database,
    chain,
    own,
    pay_to,
    lost,
    rail,
    settler,
    /** A payment that has passed all checks and is ready to be settled. */
    payment: async (changed: Partial<TransactionParts> = {}): Promise<Item> => {
      const { signer: payer } = await svm.newWallet();
      return readyItem(own, pay_to, { payer, fee_payer: own.address, pay_to, ...(await latest(svm)), ...changed });
    },
    decide: (item: Item) => {
      const { settlement_id = null, from_block = null } = sendings.get(item.claim_key) ?? {};
      return rail.decide(item, { settlement_id, from_block, claimed_at: new Date() });
    },
    settlements: () =>
      database.query<{ state: string; tx_hash: string; raw: string; nonce: number; network: string }>({
        text: 'select network, state, tx_hash, raw, nonce from settlement join settlement_attempt using (settlement_id)',
      }),
  };
}

type Latest = { readonly value: { readonly blockhash: string; readonly lastValidBlockHeight: number } };

async function latest({ call }: Pick<Awaited<ReturnType<typeof freshSvm>>, 'call'>) {
  const { value } = await call<Latest>('getLatestBlockhash', { commitment: 'confirmed' });
  return { blockhash: value.blockhash, last_valid_block_height: value.lastValidBlockHeight };
}

async function readyItem(
  { address: fee_payer }: FeePayer,
  pay_to: string,
  { last_valid_block_height, ...made }: TransactionParts & { readonly last_valid_block_height: number },
): Promise<Item> {
  const transaction = await makeTransaction(made);
  const offered = { amount_atomic: 2000n, networks: ['solana'] as const, validity_seconds_min: 0, now_ms: Date.now() };
  const judge = openSolanaJudge({ fee_payer, pay_to });
  const verified = await judge.verify({ transaction }, { ...offered, pay_to: { solana: pay_to } });
  if (verified.kind !== 'verified') throw new Error('the payment under test is not right');
  const authorization = { ...verified.authorization, last_valid_block_height };
  return { authorization, signature: verified.signature, claim_key: claimKey(authorization) };
}

function committing(lost: ReadonlySet<string>, sendings: Map<string, Sending>): CommitSettling<Item> {
  return async (_tx, items, sending) => {
    const held = items.map(({ claim_key }) => claim_key).filter(key => !lost.has(key));
    for (const key of held) sendings.set(key, sending);
    return new Set(held);
  };
}
