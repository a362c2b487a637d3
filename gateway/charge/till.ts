import type { AgentId } from '../../schema/ids.ts';
import { type BlockedCalls } from '../../subgraphs/book/ledger/blocked-calls.ts';
import type { Clock, Random } from '../../subgraphs/clock.ts';
import type { Database } from '../../subgraphs/database.ts';
import { type Issuer } from '../../subgraphs/receipt/issuer/keys.ts';
import { type LogHalt } from '../../subgraphs/receipt/log/halt.ts';
import { type KnownLog } from '../../subgraphs/receipt/log/known-log.ts';
import { type SavedHead } from '../../subgraphs/receipt/log/saved-head.ts';
import type { FairTurns } from '../../subgraphs/semaphore.ts';
import { type WalletProofs } from '../../subgraphs/session/context.ts';
import type { Vault } from '../../subgraphs/vault.ts';
import type { Hex } from '../rails/base/abi.ts';
import type { BaseChain } from '../rails/base/chain.ts';
import type { ChainHead } from '../rails/base/chain-head.ts';
import type { Rails } from '../rails/rail.ts';
import type { Queues } from '../record/queues.ts';
import type { AnyPaid } from '../record/recorder.ts';
import type { Challenges, PayTo } from '../x402/offer.ts';
import type { Failures } from './failures.ts';
import type { KeyCalls } from './key-calls.ts';
import type { Owed } from './release-later.ts';
import type { StreamsInFlight } from './streams-in-flight.ts';

/** Points at which a test may end the process; in service nothing is ever there. */
export type FaultPoint =
  /** In the midst of a transaction, with all in hand that a batch locks. */
  | 'in_claim'
  | 'after_claim'
  | 'after_work'
  | 'in_settling'
  | 'after_settling'
  | 'after_broadcast'
  | 'mid_stream'
  | 'before_record'
  | 'in_record'
  | 'after_record';
export interface Faults {
  reach(point: FaultPoint): Promise<void>;
}
export const noFaults: Faults = { reach: async () => {} };

/** All that the steps of a charge need of this process. */
export interface Till {
  readonly database: Database;
  readonly queues: Queues;
  readonly blocked_calls: BlockedCalls;
  /** Claims that are to be let go of once the database is back. */
  readonly owed: Owed;
  readonly chain: BaseChain;
  readonly chain_head: ChainHead;
  readonly rails: Rails;
  readonly wallets: WalletProofs;
  /** Who may make a wallet that does not stand yet, in lower case. */
  readonly wallet_factories: ReadonlySet<string>;
  /** What is simulated is simulated as if it came from there. */
  readonly settles_from: Hex;
  readonly issuer: Issuer;
  readonly vault: Vault;
  readonly saved_head: SavedHead;
  /** What this process knows of the log by itself: a batch appends to no other. */
  readonly known_log: KnownLog;
  /**
   * While the log is not sound no payment is taken, for what it buys could not be relied on. Once it is halted nothing is
   * recorded or let go of either: the database has gone back, and what it says of payments may be old.
   */
  readonly log: { readonly sound: boolean; readonly halt: LogHalt | null };
  readonly clock: Clock;
  readonly random: Random;
  readonly faults: Faults;
  readonly streams: StreamsInFlight;
  readonly key_calls: KeyCalls;
  /** What callers have brought about of late that nobody was charged for. */
  readonly failures: Failures;
  /** To search the chain for a payment that somebody else has used: many pages of logs each time. */
  readonly searches: FairTurns;
  readonly base_url: string;
  readonly profile: 'development' | 'production';
  /** The 402 of a price and a reason. */
  readonly challenges: Challenges;
  readonly pay_to: PayTo;
  /** This process, as its lease and its claims name it. */
  readonly owner: string;
  /** Everything that is sold, by field: with it reconcile can finish a stamp whose process died. */
  readonly sold: ReadonlyMap<string, AnyPaid>;
  agentOfWallet(wallet: string): Promise<AgentId | null>;
}
