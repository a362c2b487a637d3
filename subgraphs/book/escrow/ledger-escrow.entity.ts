import type { AtomicAmount } from '../../../schema/amount.ts';
import type { LedgerEscrowState } from '../../../schema/escrow.ts';
import type { AgentId, EscrowId } from '../../../schema/ids.ts';
import { AtomicAmountColumn, Entity, Index, PrimaryKey, Property, Unique } from '../../table.ts';
import type { EscrowRequirements } from './checks.ts';
import type { LedgerMove } from './ledger-escrow.machine.ts';
import type { Phase } from './phase.ts';

/** A phase, with the `position` of its event on the book. */
export type LedgerPhase = Phase<LedgerEscrowState, LedgerMove | 'open'> & { readonly position: number };

/** A ledger escrow, with an event per phase. Written only under the lock of the head of its book. At most one per task is open. */
@Entity({ tableName: 'ledger_escrow' })
@Index({ name: 'ledger_escrow_book', properties: ['agentId', 'openedAt'] })
@Index({ name: 'ledger_escrow_task', properties: ['agentId', 'taskId', 'escrowId'] })
@Index({ name: 'ledger_escrow_expires', properties: ['expiresAt'], where: "state = 'open'" })
@Unique({ name: 'ledger_escrow_live', properties: ['agentId', 'taskId'], where: "state = 'open'" })
export class StoredLedgerEscrow {
  @PrimaryKey({ type: 'text' }) escrowId!: EscrowId;
  @Property({ type: 'integer' }) agentId!: AgentId;
  @Property({ type: 'text' }) taskId!: string;
  /** Seq of the row of the task. */
  @Property({ type: 'integer' }) seq!: number;
  /** Amount collected for the task. */
  @Property({ type: AtomicAmountColumn }) amount!: AtomicAmount;
  @Property({ type: 'json', columnType: 'jsonb' }) required!: EscrowRequirements;
  @Property({ type: 'text' }) state!: LedgerEscrowState;
  @Property({ type: 'json', columnType: 'jsonb' }) phases!: readonly LedgerPhase[];
  @Property({ type: 'Date', columnType: 'timestamptz' }) openedAt!: Date;
  @Property({ type: 'Date', columnType: 'timestamptz' }) expiresAt!: Date;
}
