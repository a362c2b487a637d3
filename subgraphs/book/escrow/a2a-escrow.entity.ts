import type { AtomicAmount } from '../../../schema/amount.ts';
import type { A2aEscrowParty, A2aEscrowState } from '../../../schema/escrow.ts';
import type { AgentId, EscrowId } from '../../../schema/ids.ts';
import { AtomicAmountColumn, Entity, Index, PrimaryKey, Property, Unique } from '../../table.ts';
import type { A2aMove } from './a2a-escrow.machine.ts';
import type { Phase } from './phase.ts';

export interface A2aPhase extends Phase<A2aEscrowState, A2aMove | 'open'> {
  /** Null for an expiry. */
  readonly by: A2aEscrowParty | null;
  /** Task id of the rows of the phase, the same on both books. */
  readonly task_id: string;
  readonly principal_seq: number;
  /** Null until the counterparty acts, because its book has no row of the escrow before. */
  readonly counterparty_seq: number | null;
}

/** SQL condition for escrows that have not ended. */
export const LIVE_A2A = "state in ('open', 'funded', 'submitted', 'challenged')";
/** SQL condition for live escrows that end at their expiry. */
const ENDS = "state in ('open', 'funded')";

/** An escrow between two agents, with a row per phase. Written only under the locks of the heads of the books that have its rows. */
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
  /** Commitment that the receipt must make (`sha256:<hex>` or `keccak256:<hex>`). Null if the terms require none. */
  @Property({ type: 'text', nullable: true }) requiredOutputHash!: string | null;
  @Property({ type: 'text' }) state!: A2aEscrowState;
  @Property({ type: 'json', columnType: 'jsonb' }) phases!: readonly A2aPhase[];
  @Property({ type: 'Date', columnType: 'timestamptz' }) openedAt!: Date;
  @Property({ type: 'Date', columnType: 'timestamptz' }) expiresAt!: Date;
  /** Time at which the counterparty was notified of the escrow. Null if it was not. */
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true }) offerToldAt!: Date | null;
}

/** The escrow that a receipt fulfils, permanently and over all books. It is the first that the receipt was submitted for. */
@Entity({ tableName: 'a2a_escrow_fulfillment' })
export class EscrowFulfillment {
  @PrimaryKey({ type: 'text' }) taskId!: string;
  @Property({ type: 'text' }) escrowId!: EscrowId;
}

/** The only escrow that a payment backs, permanently and over all books. */
@Entity({ tableName: 'a2a_escrow_backing' })
export class EscrowBacking {
  @PrimaryKey({ type: 'text' }) taskId!: string;
  @Property({ type: 'text' }) escrowId!: EscrowId;
}
