import type { AtomicAmount } from '../../../schema/amount.ts';
import type { A2aEscrowParty, A2aEscrowState } from '../../../schema/escrow.ts';
import type { AgentId, EscrowId } from '../../../schema/ids.ts';
import { AtomicAmountColumn, Entity, Index, PrimaryKey, Property, Unique } from '../../table.ts';
import type { A2aMove } from './a2a-escrow.machine.ts';
import type { Phase } from './phase.ts';

export interface A2aPhase extends Phase<A2aEscrowState, A2aMove | 'open'> {
  /** Null: its time was over. */
  readonly by: A2aEscrowParty | null;
  /** Of its rows, one id on both books. */
  readonly task_id: string;
  readonly principal_seq: number;
  /** Null: nothing is written on the counterparty's book before an act of its own. */
  readonly counterparty_seq: number | null;
}

/** Still on its way. */
export const LIVE_A2A = "state in ('open', 'funded', 'submitted', 'challenged')";
/** Of these, what ends by its time. */
const ENDS = "state in ('open', 'funded')";

/** An escrow between two agents: written under the heads of their books alone, with a row of each phase. */
@Entity({ tableName: 'a2a_escrow' })
@Unique({ name: 'a2a_escrow_job', properties: ['principalAgentId', 'jobId'] })
@Index({ name: 'a2a_escrow_counterparty_job', properties: ['counterpartyAgentId', 'jobId'] })
@Index({ name: 'a2a_escrow_principal', properties: ['principalAgentId', 'escrowId'] })
@Index({ name: 'a2a_escrow_counterparty', properties: ['counterpartyAgentId', 'escrowId'] })
@Index({ name: 'a2a_escrow_opened', properties: ['principalAgentId', 'openedAt'] })
@Index({ name: 'a2a_escrow_live', properties: ['principalAgentId', 'counterpartyAgentId'], where: LIVE_A2A })
@Index({
  name: 'a2a_escrow_told',
  properties: ['counterpartyAgentId', 'offerToldAt'],
  where: 'offer_told_at is not null',
})
@Index({ name: 'a2a_escrow_expires', properties: ['expiresAt'], where: ENDS })
export class StoredA2aEscrow {
  @PrimaryKey({ type: 'text' }) escrowId!: EscrowId;
  @Property({ type: 'integer' }) principalAgentId!: AgentId;
  @Property({ type: 'integer' }) counterpartyAgentId!: AgentId;
  @Property({ type: 'text' }) jobId!: string;
  /** 64 hex digits. */
  @Property({ type: 'text' }) jobSpecHash!: string;
  @Property({ type: AtomicAmountColumn }) amount!: AtomicAmount;
  /** `sha256:<hex>` or `keccak256:<hex>` that the receipt has to commit to; null where its terms require none. */
  @Property({ type: 'text', nullable: true }) requiredOutputHash!: string | null;
  @Property({ type: 'text' }) state!: A2aEscrowState;
  @Property({ type: 'json', columnType: 'jsonb' }) phases!: readonly A2aPhase[];
  @Property({ type: 'Date', columnType: 'timestamptz' }) openedAt!: Date;
  @Property({ type: 'Date', columnType: 'timestamptz' }) expiresAt!: Date;
  /** When the webhook of the counterparty was told of it; null: it was not, or wanted none. */
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true }) offerToldAt!: Date | null;
}

/** A receipt fulfils one escrow, for ever and over all books: the one that it was submitted for first. */
@Entity({ tableName: 'a2a_escrow_fulfillment' })
export class EscrowFulfillment {
  @PrimaryKey({ type: 'text' }) taskId!: string;
  @Property({ type: 'text' }) escrowId!: EscrowId;
}

/** A payment backs one escrow, for ever and over all books. */
@Entity({ tableName: 'a2a_escrow_backing' })
export class EscrowBacking {
  @PrimaryKey({ type: 'text' }) taskId!: string;
  @Property({ type: 'text' }) escrowId!: EscrowId;
}
