import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { TaskId } from '../../../schema/ids.ts';
import { reactionLimits } from '../../../schema/limits.ts';
import { Entity, PrimaryKey, Property } from '../../table.ts';

/** A completion reported under the inbound secret, as it was reported first. */
@Entity({ tableName: 'board_completion' })
export class BoardCompletion {
  @PrimaryKey({ type: 'string', length: reactionLimits.source_chars_max })
  source!: string;
  @PrimaryKey({ type: 'string', length: reactionLimits.external_id_chars_max })
  externalId!: string;
  /** Task id of its receipt. */
  @Property({ type: 'string', length: 64 })
  taskId!: TaskId;
  /** The request in its one spelling. */
  @Property({ type: 'json', columnType: 'jsonb' })
  said!: JsonObject;
  /** As its chain showed it before this was recorded; null: it did not. */
  @Property({ type: 'json', columnType: 'jsonb', nullable: true })
  transfer!: JsonObject | null;
  /** `{block_number, block_hash, final}`: where it was seen. */
  @Property({ type: 'json', columnType: 'jsonb', nullable: true })
  seenIn!: JsonObject | null;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  recordedAt!: Date;
}
