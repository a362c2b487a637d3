import type { AgentId } from '../../schema/ids.ts';
import type { NetworkName } from '../../schema/network.ts';
import type { Clock, Random } from '../../subgraphs/clock.ts';
import type { Database } from '../../subgraphs/database.ts';
import type { Issuer, SavedHead } from '../../subgraphs/receipt/index.ts';
import type { Vault } from '../../subgraphs/vault.ts';
import type { BaseChain } from './base/chain.ts';
import type { Queues } from './queues.ts';
import type { AnyPaid } from './record.ts';
import type { Settler } from './settle/settle.ts';
import type { ClaimItem } from './steps.ts';

/** Points at which a test may end the process; in service nothing is ever there. */
export type FaultPoint =
  | 'after_claim'
  | 'after_work'
  | 'after_settling'
  | 'after_broadcast'
  | 'before_record'
  | 'after_record';
export interface Faults {
  reach(point: FaultPoint): Promise<void>;
}
export const noFaults: Faults = { reach: async () => {} };

/** All that the steps of a charge need of this process. */
export interface Till {
  readonly database: Database;
  readonly queues: Queues;
  readonly chain: BaseChain;
  /** Which chain of this database's life it is; 0 for ever on Base itself. */
  readonly chain_epoch: number;
  readonly settler: Settler<ClaimItem>;
  readonly issuer: Issuer;
  readonly vault: Vault;
  readonly saved_head: SavedHead;
  readonly clock: Clock;
  readonly random: Random;
  readonly faults: Faults;
  readonly base_url: string;
  readonly profile: 'development' | 'production';
  readonly pay_to: Readonly<Partial<Record<NetworkName, string>>>;
  /** This process, as its lease and its claims name it. */
  readonly owner: string;
  /** Everything that is sold, by field: with it reconcile can finish a stamp whose process died. */
  readonly sold: ReadonlyMap<string, AnyPaid>;
  agentOfWallet(wallet: string): Promise<AgentId | null>;
}
