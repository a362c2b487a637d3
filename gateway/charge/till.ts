import type { AgentId } from '../../schema/ids.ts';
import { type BlockedCalls } from '../../subgraphs/book/ledger/blocked-calls.ts';
import type { Clock, Random } from '../../subgraphs/clock.ts';
import type { Database } from '../../subgraphs/database.ts';
import { type Issuer } from '../../subgraphs/receipt/issuer/keys.ts';
import { type LogHalt } from '../../subgraphs/receipt/log/halt.ts';
import { type KnownLog } from '../../subgraphs/receipt/log/known-log.ts';
import { type SavedHead } from '../../subgraphs/receipt/log/saved-head.ts';
import type { Vault } from '../../subgraphs/vault.ts';
import type { Faults } from '../operations/faults.ts';
import type { ChainHead } from '../rails/base/chain-head.ts';
import type { Rails } from '../rails/rail.ts';
import type { Queues } from '../record/queues.ts';
import type { AnyPaid } from '../record/recorder.ts';
import type { Challenges, PayTo } from '../x402/offer.ts';
import type { Failures } from './failures.ts';
import type { KeyCalls } from './key-calls.ts';
import type { Owed } from './release-later.ts';
import type { StreamsInFlight } from './streams-in-flight.ts';

/** All that the steps of a charge need of this process. */
export interface Till {
  readonly database: Database;
  readonly queues: Queues;
  readonly blocked_calls: BlockedCalls;
  /** Claims that are to be let go of once the database is back. */
  readonly owed: Owed;
  readonly chain_head: ChainHead;
  readonly rails: Rails;
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
