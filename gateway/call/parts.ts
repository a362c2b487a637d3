import { type AgentId } from '../../schema/ids.ts';
import { type BlockedCalls } from '../../subgraphs/book/ledger/blocked-calls.ts';
import { type AnyPaid } from '../../subgraphs/sale.ts';
import { type WalletProofs } from '../../subgraphs/wallet-proofs.ts';
import { type Precedence } from '../operations/precedence.ts';
import { type PayTo } from '../x402/offer.ts';
import { type Queues } from './claim/queues.ts';
import { type StreamsInFlight } from './drive-stream.ts';
import { type Failures } from './failures.ts';
import { type Ground } from './ground.ts';
import { type KeyCalls } from './key-calls.ts';
import { type RecordCall } from './record/open-recording.ts';
import { type ReleaseLater } from './release-later.ts';
import { type MarksOf } from './request.ts';
import { type Respond } from './respond.ts';
import { type WorkUnderway } from './work-underway.ts';

/** This service as the seller of its calls. Its members do not change while the process runs. */
export interface Seller {
  /** Everything that is sold, by the name of its field. */
  readonly sold: ReadonlyMap<string, AnyPaid>;
  readonly pay_to: PayTo;
  readonly base_url: string;
  /** The current URL of the service, then its former ones. */
  readonly base_urls: readonly string[];
  /** Name of this process as the owner of leases and claims. */
  readonly owner: string;
  readonly respond: Respond;
  /** Checks the wallet signature of a grant. */
  readonly wallets: WalletProofs;
  agentOfWallet(wallet: string): Promise<AgentId | null>;
}

/** What this process remembers of its calls. A process that dies loses only this. */
interface Memory {
  readonly failures: Failures;
  readonly blocked_calls: BlockedCalls;
  readonly underway: WorkUnderway;
  readonly streams: StreamsInFlight;
  readonly key_calls: KeyCalls;
  /** Claims to release once the database is back. */
  readonly later: ReleaseLater;
  readonly marksOf: MarksOf;
  /** Calls whose payment was verified or key accepted go before other requests. */
  readonly precedence: Pick<Precedence, 'begin' | 'end'>;
}

/** The commits of a call. Calls that arrive together share them. */
interface Commits {
  readonly queues: Queues;
  readonly record: RecordCall;
}

/** What the steps of a call share. The first parameter of each step picks what the step uses. */
export type CallParts = Ground & Seller & Memory & Commits;
