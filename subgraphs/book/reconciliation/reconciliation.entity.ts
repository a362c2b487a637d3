import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId, ReconciliationId } from '../../../schema/ids.ts';
import type { ReconciliationFault, ReconciliationState, WalletProvenBy } from '../../../schema/reconciliation.ts';
import { BigIntType, Entity, Index, PrimaryKey, Property } from '../../table.ts';

/**
 * A reconciliation from its asking to its end: how far its blocks were read, what they came to, and at the end the document
 * as it was signed. All that a process has to know to go on where another one was killed.
 */
@Entity({ tableName: 'reconciliation' })
@Index({ name: 'reconciliation_asked', properties: ['agentId', 'askedAt'] })
@Index({
  name: 'reconciliation_running',
  expression: `create unique index reconciliation_running on reconciliation (agent_id) where state = 'running'`,
})
export class StoredReconciliation {
  @PrimaryKey({ type: 'text' })
  reportId!: ReconciliationId;
  @Property({ type: 'integer' })
  agentId!: AgentId;
  /** EIP-55, as the next. */
  @Property({ type: 'text' })
  wallet!: string;
  /** agentWallet as it was when this was asked for. */
  @Property({ type: 'text', nullable: true })
  agentWallet!: string | null;
  @Property({ type: 'text' })
  provenBy!: WalletProvenBy;
  @Property({ type: 'integer' })
  fromBlock!: number;
  @Property({ type: 'integer' })
  toBlock!: number;
  @Property({ type: 'text' })
  state!: ReconciliationState;
  @Property({ type: 'text', nullable: true })
  reason!: ReconciliationFault | null;
  /** The first block that has not been read. */
  @Property({ type: 'integer' })
  nextBlock!: number;
  /** So many are asked for next. */
  @Property({ type: 'integer' })
  pageBlocks!: number;
  /** Of both ends, as they were found first. */
  @Property({ type: 'text', nullable: true })
  fromHash!: string | null;
  @Property({ type: 'text', nullable: true })
  toHash!: string | null;
  /** Leaves of the log when it was asked for: all of them are looked at. */
  @Property({ type: new BigIntType('number') })
  logSize!: number;
  @Property({ type: 'integer' })
  transfers!: number;
  /** By class: {count, amount}, amounts as digits. */
  @Property({ type: 'json', columnType: 'jsonb' })
  sums!: JsonObject;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  askedAt!: Date;
  /** When a page was last done. */
  @Property({ type: 'Date', columnType: 'timestamptz' })
  movedAt!: Date;
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  endedAt!: Date | null;
  /** Canonical JSON: as it was signed. */
  @Property({ type: 'text', nullable: true })
  document!: string | null;
}

/** A transfer of one that is under way, as its document will list it; gone with its end. */
@Entity({ tableName: 'reconciliation_transfer' })
export class ReconciledTransfer {
  @PrimaryKey({ type: 'text' })
  reportId!: ReconciliationId;
  @PrimaryKey({ type: 'integer', autoincrement: false })
  place!: number;
  @Property({ type: 'json', columnType: 'jsonb' })
  entry!: JsonObject;
}
