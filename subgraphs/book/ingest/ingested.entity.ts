import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { Entity, Index, PrimaryKey, Property } from '../../table.ts';

/** Whether the final chain has the transfer: it is looked at until that is known. */
export type IngestStanding = 'pending' | 'final' | 'vanished';

/** Which transfer a row of `foreign_ingest` is of, and what became of it since. */
@Entity({ tableName: 'foreign_ingest' })
@Index({ name: 'foreign_ingest_slot', properties: ['slot'] })
@Index({ name: 'foreign_ingest_pending', properties: ['lookedAt'], where: "standing = 'pending'" })
@Index({
  name: 'foreign_ingest_yield_owed',
  properties: ['recordedAt'],
  where: 'yielded_to is not null and yield_row_at is null',
})
export class ForeignIngest {
  /** Of the row. */
  @PrimaryKey({ type: 'text' }) taskId!: string;
  @Property({ type: 'integer' }) agentId!: AgentId;
  /** Names the transfer: see schema/observed-transfer.ts. */
  @Property({ type: 'text' }) slot!: string;
  @Property({ type: 'json', columnType: 'jsonb' }) transfer!: JsonObject;
  /** `{block_number, block_hash, final}`: where it was seen last. */
  @Property({ type: 'json', columnType: 'jsonb' }) seenIn!: JsonObject;
  @Property({ type: 'boolean' }) payerProven!: boolean;
  @Property({ type: 'text' }) standing!: IngestStanding;
  @Property({ type: 'Date', columnType: 'timestamptz' }) recordedAt!: Date;
  @Property({ type: 'Date', columnType: 'timestamptz' }) lookedAt!: Date;
  /** The task of the row whose payer is proven. */
  @Property({ type: 'text', nullable: true }) yieldedTo!: string | null;
  /** When a row of the book came to say that it yields. */
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true }) yieldRowAt!: Date | null;
  /** When the book was first told so: until there were such rows, by an event. */
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true }) correctedAt!: Date | null;
}
