import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { Entity, Index, PrimaryKey, Property } from '../../table.ts';

/** Whether the final chain has the transfer. It is checked until that is known. */
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
  /** Task of the row. */
  @PrimaryKey({ type: 'text' }) taskId!: string;
  @Property({ type: 'integer' }) agentId!: AgentId;
  /** Names the transfer: see schema/observed-transfer.ts. */
  @Property({ type: 'text' }) slot!: string;
  @Property({ type: 'json', columnType: 'jsonb' }) transfer!: JsonObject;
  /** `{block_number, block_hash, final}` where it was last seen. */
  @Property({ type: 'json', columnType: 'jsonb' }) seenIn!: JsonObject;
  @Property({ type: 'boolean' }) payerProven!: boolean;
  @Property({ type: 'text' }) standing!: IngestStanding;
  @Property({ type: 'Date', columnType: 'timestamptz' }) recordedAt!: Date;
  @Property({ type: 'Date', columnType: 'timestamptz' }) lookedAt!: Date;
  /** Task of the row with the proven payer. */
  @Property({ type: 'text', nullable: true }) yieldedTo!: string | null;
  /** Time a row of the book recorded that it yields. */
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true }) yieldRowAt!: Date | null;
  /** Time the book first recorded it, by an event before there were such rows. */
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true }) correctedAt!: Date | null;
}
