import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { TaskId } from '../../../schema/ids.ts';
import { reactionLimits } from '../../../schema/limits.ts';
import { Entity, PrimaryKey, Property } from '../../table.ts';

/** A completion that was reported with the inbound secret, as in its first report. */
@Entity({ tableName: 'board_completion' })
export class BoardCompletion {
  @PrimaryKey({ type: 'string', length: reactionLimits.source_chars_max })
  source!: string;
  @PrimaryKey({ type: 'string', length: reactionLimits.external_id_chars_max })
  externalId!: string;
  /** Task id of the receipt of the completion. */
  @Property({ type: 'string', length: 64 })
  taskId!: TaskId;
  /** The validated request that reported the completion. */
  @Property({ type: 'json', columnType: 'jsonb' })
  said!: JsonObject;
  /** The transfer as its chain showed it before the completion was recorded. Null if the chain did not show it. */
  @Property({ type: 'json', columnType: 'jsonb', nullable: true })
  transfer!: JsonObject | null;
  /** `{block_number, block_hash, final}`: place of the transfer on its chain. */
  @Property({ type: 'json', columnType: 'jsonb', nullable: true })
  seenIn!: JsonObject | null;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  recordedAt!: Date;
}
