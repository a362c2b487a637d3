import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { Entity, Index, PrimaryKey, Property } from '../../table.ts';

/** Whether the final chain has the transfer. The transfer is checked until this is known. */
export type IngestStanding = 'pending' | 'final' | 'vanished';

/** The transfer of a `foreign_ingest` row and its state. */
@Entity({ tableName: 'foreign_ingest' })
@Index({ name: 'foreign_ingest_slot', properties: ['slot'] })
@Index({ name: 'foreign_ingest_pending', properties: ['lookedAt'], where: "standing = 'pending'" })
@Index({
  name: 'foreign_ingest_yield_owed',
  properties: ['recordedAt'],
  where: 'yielded_to is not null and yield_row_at is null',
})
export class ForeignIngest {
  /** Task id of the row. */
  @PrimaryKey({ type: 'text' }) taskId!: string;
  @Property({ type: 'integer' }) agentId!: AgentId;
  /** Slot of the transfer (schema/observed-transfer.ts). */
  @Property({ type: 'text' }) slot!: string;
  @Property({ type: 'json', columnType: 'jsonb' }) transfer!: JsonObject;
  /** `{block_number, block_hash, final}` of the block in which the transfer was last seen. */
  @Property({ type: 'json', columnType: 'jsonb' }) seenIn!: JsonObject;
  @Property({ type: 'boolean' }) payerProven!: boolean;
  @Property({ type: 'text' }) standing!: IngestStanding;
  @Property({ type: 'Date', columnType: 'timestamptz' }) recordedAt!: Date;
  @Property({ type: 'Date', columnType: 'timestamptz' }) lookedAt!: Date;
  /** Task id of the row with the proven payer. Null if this row does not yield. */
  @Property({ type: 'text', nullable: true }) yieldedTo!: string | null;
  /** Time when a correction row was appended because this row yields. Null if there is none yet. */
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true }) yieldRowAt!: Date | null;
  /** Time when the book first recorded that this row yields. Earlier versions recorded it by an event without a row. */
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true }) correctedAt!: Date | null;
}
