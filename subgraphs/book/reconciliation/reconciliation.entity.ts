import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId, ReconciliationId } from '../../../schema/ids.ts';
import type { ReconciliationFault, ReconciliationState, WalletProvenBy } from '../../../schema/reconciliation.ts';
import { BigIntType, Entity, Index, PrimaryKey, Property } from '../../table.ts';

/** A reconciliation: its progress, its sums and, at the end, the signed document. Another process can continue it from this row. */
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
  /** Address in EIP-55 spelling. */
  @Property({ type: 'text' })
  wallet!: string;
  /** agentWallet at the time of the request, in EIP-55 spelling. Null if it was not known. */
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
  /** First block that was not read yet. */
  @Property({ type: 'integer' })
  nextBlock!: number;
  /** Number of blocks of the next page. */
  @Property({ type: 'integer' })
  pageBlocks!: number;
  /** Hashes of the first and the last block, as they were first read. Null before that. */
  @Property({ type: 'text', nullable: true })
  fromHash!: string | null;
  @Property({ type: 'text', nullable: true })
  toHash!: string | null;
  /** Size of the log at the time of the request. All of its leaves are compared. */
  @Property({ type: new BigIntType('number') })
  logSize!: number;
  @Property({ type: 'integer' })
  transfers!: number;
  /** Sums by class as {count, amount}. Amounts are decimal digits. */
  @Property({ type: 'json', columnType: 'jsonb' })
  sums!: JsonObject;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  askedAt!: Date;
  /** Time of the last progress. */
  @Property({ type: 'Date', columnType: 'timestamptz' })
  movedAt!: Date;
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  endedAt!: Date | null;
  /** Signed document in canonical JSON. Null until the report is done. */
  @Property({ type: 'text', nullable: true })
  document!: string | null;
}

/** A transfer of a running reconciliation, in the form in which the document will list it. Deleted when the report ends. */
@Entity({ tableName: 'reconciliation_transfer' })
export class ReconciledTransfer {
  @PrimaryKey({ type: 'text' })
  reportId!: ReconciliationId;
  @PrimaryKey({ type: 'integer', autoincrement: false })
  place!: number;
  @Property({ type: 'json', columnType: 'jsonb' })
  entry!: JsonObject;
}
