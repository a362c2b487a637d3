import { atomicAmount } from '../../schema/amount.ts';
import { agentId } from '../../schema/ids.ts';
import type { NetworkName } from '../../schema/network.ts';
import { unmarkLegOnes } from '../../subgraphs/board/job/mark-paid.ts';
import { voidReservations } from '../../subgraphs/book/ledger/reserve.ts';
import type { Database, Tx } from '../../subgraphs/database.ts';
import {
  beginEpoch,
  closeOpenClaims,
  type KnownChain,
  knownChain,
  rememberBlock,
} from '../../subgraphs/receipt/claim/epoch.ts';
import { anybodyStillServes } from '../../subgraphs/receipt/claim/lease.ts';
import type { ChainAnswer } from './rpc.ts';

/** Queries by which a chain is distinguished from another. All methods throw if it is unreachable. */
export interface EpochChain {
  readonly network: NetworkName;
  /** Null if the chain has no such block. Number 0 is the genesis block. */
  blockHash(number: number): Promise<string | null>;
  /** The newest final block; null if only the genesis block is compared on this network. */
  finalized(): Promise<{ readonly number: number; readonly hash: string } | null>;
  /**
   * Checks that the node serves the network that we sell on. Signatures and settlements are valid on one chain only; on another
   * they would be worthless, or useful to a stranger. @throws OtherChain
   */
  requireOurs(profile: Profile): Promise<void>;
}

type Profile = 'development' | 'production';

/** How the current chain relates to the one on which payments in this database were made. */
export type Continuity =
  | { readonly kind: 'first' }
  | { readonly kind: 'same' }
  | { readonly kind: 'other'; readonly because: 'genesis' | 'last_block' };

/**
 * Compares the current chain with the remembered one. `standing` is the hash of the current chain's block at the remembered height;
 * null if there is no such block.
 */
export function judgeContinuity(known: KnownChain | null, genesis_hash: string, standing: string | null): Continuity {
  if (known === null) return { kind: 'first' };
  if (known.genesis_hash !== genesis_hash) return { kind: 'other', because: 'genesis' };
  return known.last_hash === standing ? { kind: 'same' } : { kind: 'other', because: 'last_block' };
}

const otherChain = {
  genesis: 'the payments in this database are on another chain, with another genesis block',
  last_block:
    'the node does not have the last known block of the chain on which this database was paid: it lags behind, or it belongs to another chain',
};

export class OtherChain extends Error {
  override name = 'OtherChain';
}

export interface EpochTerms {
  readonly profile: Profile;
  /** Whether an operator has confirmed that this chain replaces the former one. */
  readonly accepted?: boolean;
  /** Owner name in this process's lease, if the process already serves. */
  readonly owner?: string;
}

/** Compares as `openEpoch` does, without writing. @throws as `openEpoch` does */
export async function requireKnownChain(database: Database, chain: EpochChain, terms: EpochTerms): Promise<void> {
  const { genesis_hash, seen, standing } = await look(database, chain, terms);
  await requireMayBegin(database, chain.network, judgeContinuity(seen, genesis_hash, standing), terms);
}

async function look(database: Database, chain: EpochChain, { profile }: EpochTerms) {
  await chain.requireOurs(profile);
  const genesis_hash = await chain.blockHash(0);
  if (genesis_hash === null) throw new OtherChain('the node has no genesis block');
  const seen = await database.transaction(tx => knownChain(tx, chain.network));
  return { genesis_hash, seen, standing: seen ? await chain.blockHash(seen.last_block) : null };
}

const variables: Readonly<Record<NetworkName, string>> = { base: 'BASE_RPC_URL', solana: 'SOLANA_RPC_URL' };

/**
 * Checks that a new epoch may begin. Other processes may have open payments on the former chain, so an epoch is not ended while
 * they serve.
 */
async function requireMayBegin(
  database: Database,
  network: NetworkName,
  continuity: Continuity,
  { profile, accepted = false, owner }: EpochTerms,
): Promise<void> {
  if (continuity.kind !== 'other' || accepted) return;
  const other = otherChain[continuity.because];
  if (profile === 'production')
    throw new OtherChain(
      `${other}. Nothing was changed. If the new chain is intended, stop every process of this database and run ` +
        `npm run accept-changed -- ${variables[network]}`,
    );
  if (await anybodyStillServes(database, owner))
    throw new OtherChain(`${other}, and other processes still serve this database on the former chain`);
}

/**
 * Compares the chain with the remembered one before anything is settled on it, and returns the current epoch. If the chain differs,
 * development begins a new epoch unless other processes serve; production refuses the start. @throws OtherChain, also if the node
 * serves another network; also throws if the chain is unreachable
 */
export async function openEpoch(database: Database, chain: EpochChain, terms: EpochTerms): Promise<number> {
  const { network } = chain;
  const { genesis_hash, seen, standing } = await look(database, chain, terms);
  await requireMayBegin(database, network, judgeContinuity(seen, genesis_hash, standing), terms);
  return database.transaction(async tx => {
    const known = await knownChain(tx, network);
    // Another process began an epoch or saw a later block meanwhile, so its result is used.
    if (known && known.last_block !== seen?.last_block) return known.epoch;
    const continuity = judgeContinuity(known, genesis_hash, standing);
    if (continuity.kind === 'same') return known?.epoch ?? 0;
    if (continuity.kind === 'other') await endEpoch(tx, network);
    const epoch = known ? known.epoch + 1 : 0;
    await beginEpoch(tx, network, { epoch, genesis_hash, last_block: 0, last_hash: genesis_hash });
    return epoch;
  });
}

/** Stores the newest final block. A later start compares the chain with it. */
export async function rememberChain(database: Database, chain: EpochChain, epoch: number): Promise<void> {
  const final = await chain.finalized();
  if (final) await database.transaction(tx => rememberBlock(tx, chain.network, epoch, final.number, final.hash));
}

async function endEpoch(tx: Tx, network: NetworkName): Promise<void> {
  const ended = await closeOpenClaims(tx, network);
  // The board is changed before the books, which is the lock order of recording.
  unmarkLegOnes(
    tx,
    ended.map(({ task_id }) => task_id),
  );
  await voidReservations(
    tx,
    ended.flatMap(({ agent_id, reserved_atomic }) =>
      agent_id === null ? [] : [{ agent_id: agentId(agent_id), amount: atomicAmount(reserved_atomic) }],
    ),
  );
}

/** The chain is unreachable. */
export class ChainAway extends Error {
  override name = 'ChainAway';
}

/** @throws ChainAway */
export function requireAnswer<T>(answer: ChainAnswer<T>): T {
  if (answer.kind !== 'ok') throw new ChainAway('the chain cannot be reached', { cause: answer.cause });
  return answer.value;
}
