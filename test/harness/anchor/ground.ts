import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { openAnchorChain } from '../../../gateway/log/anchor/anchor-chain.ts';
import { AnchoredHeads } from '../../../gateway/log/anchor/anchored-heads.ts';
import type { AnchorerParts, AnchorFaults, StepOutcome } from '../../../gateway/log/anchor/anchorer.ts';
import { Anchoring, type AnchoringParts } from '../../../gateway/log/anchor/anchoring.ts';
import { anchorKey } from '../../../gateway/log/anchor/open-anchors.ts';
import { openBase } from '../../../gateway/rails/base/open-base.ts';
import { systemRandom } from '../../../subgraphs/clock.ts';
import type { Database } from '../../../subgraphs/database.ts';
import type { TestChain } from '../chain.ts';
import { collectAll, collection, issuer } from '../ledger/fixture.ts';
import { atEnd } from '../release.ts';

export const GWEI = 1_000_000_000n;

interface AnchorerChanges
  extends Partial<Pick<AnchorerParts, 'pace_ms' | 'fee_day_max_wei' | 'stuck_ms'>>,
    Pick<AnchoringParts, 'onContradiction' | 'onEnd'> {
  readonly faults?: AnchorFaults;
}

export interface AnchoringProcess {
  readonly anchoring: Anchoring;
  readonly heads: AnchoredHeads;
  readonly lines: readonly string[];
  /** Runs one round, by default on demand. */
  round(on_demand?: boolean): Promise<StepOutcome>;
  /** Starts the timer of the proofs. The process is the only one of its fleet, so every turn to anchor is its turn. */
  start(): void;
  /** Runs rounds until none reports progress. Returns the outcome of the last one. */
  settle(on_demand?: boolean): Promise<StepOutcome>;
}

/** Anchoring as one process runs it: with a connection to the chain that no other process uses, on a database that others may share. */
export function anchoringProcess(
  rpc_url: string,
  database: Database,
  seed: string,
  changed: AnchorerChanges = {},
): AnchoringProcess {
  const chain = openBase({ rpc_url });
  const anchors = openAnchorChain(rpc_url);
  const key = anchorKey(seed);
  const lines: string[] = [];
  const heads = new AnchoredHeads({ database, chain, anchors, sender: key.address, jwks: issuer.jwks });
  const anchoring = new Anchoring({
    database,
    chain,
    anchors,
    key,
    heads,
    random: systemRandom,
    pace_ms: 3_600_000,
    fee_day_max_wei: 10n ** 18n,
    stuck_ms: 60_000,
    poll_ms: 50,
    log: { sound: true },
    logger: pino({}, { write: line => void lines.push(line) }),
    ...changed,
  });
  const stopping = new AbortController();
  let turns: Promise<void> = Promise.resolve();
  const takeTurns = async () => {
    while (!stopping.signal.aborted) {
      const { rest_ms } = await anchoring.anchor();
      await sleep(rest_ms, null, { signal: stopping.signal }).catch(() => {});
    }
  };
  const start = () => {
    anchoring.start(0);
    turns = takeTurns();
  };
  atEnd(async () => {
    stopping.abort();
    await turns;
    await anchoring.stop();
    await Promise.all([chain.close(), anchors.close()]);
  });
  const round = (on_demand = true) => anchoring.round(0, on_demand);
  return {
    anchoring,
    heads,
    lines,
    round,
    start,
    async settle(on_demand = true) {
      for (let moves = 0; moves < 200; moves++) {
        const moved = await round(on_demand);
        if (moved.kind !== 'sent' && moved.kind !== 'deployed') return moved;
      }
      throw new Error('it never came to an end');
    },
  };
}

/** The seed of a new address that has ETH for gas. */
export async function fundedSeed(chain: TestChain, balance_wei = 10n ** 18n): Promise<string> {
  const seed = randomBytes(32).toString('hex');
  await chain.call('anvil_setBalance', anchorKey(seed).address, `0x${balance_wei.toString(16)}`);
  return seed;
}

/** Appends one receipt for each number, all in one batch. */
export async function grow(database: Database, ...numbers: readonly number[]): Promise<void> {
  await database.transaction(tx =>
    collectAll(
      tx,
      numbers.map(number => collection(null, number)),
    ),
  );
}

export interface JournalRow {
  readonly purpose: string;
  readonly state: string;
  readonly tree_size: number;
  readonly tx_hash: string | null;
  readonly attempts: number;
  readonly fee_wei: bigint | null;
}

export function journalOf(database: Database): Promise<JournalRow[]> {
  return database.query<JournalRow>({
    text: `select purpose, state, tree_size, tx_hash, jsonb_array_length(attempts) as attempts, fee_wei
      from log_anchor order by at, nonce`,
  });
}

/** Number of transactions of a key that have ever been mined. */
export async function minedOf(chain: TestChain, seed: string): Promise<number> {
  return Number(await chain.call<string>('eth_getTransactionCount', anchorKey(seed).address, 'latest'));
}
