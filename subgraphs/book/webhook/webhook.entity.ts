import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { WebhookKind } from '../../../schema/webhook/kinds.ts';
import { Entity, PrimaryKey, Property } from '../../table.ts';
import type { UsedRoom } from './room.ts';

/**
 * Where a book tells of its events, and how its deliveries fare. It stays when its webhook is removed, so that removing it
 * makes no room for more changes. Counters stand here and not on the head: a delivery holds up no call.
 */
@Entity({ tableName: 'webhook' })
export class Webhook {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: AgentId;
  /** URL and secrets, sealed; null: it was removed. */
  @Property({ type: 'blob', nullable: true })
  box!: Buffer | null;
  @Property({ type: 'json', columnType: 'jsonb' })
  events!: readonly WebhookKind[];
  @Property({ type: 'boolean' })
  enabled!: boolean;
  /** Up to there all events were told, and so many messages: those that failed have jobs of their own. */
  @Property({ type: 'integer', default: 0 })
  toldPosition!: number;
  @Property({ type: 'integer', default: 0 })
  toldMessages!: number;
  /** Messages that were taken, and attempts that failed. */
  @Property({ type: 'integer', default: 0 })
  deliveries!: number;
  @Property({ type: 'integer', default: 0 })
  failures!: number;
  @Property({ type: 'integer', nullable: true })
  lastStatus!: number | null;
  @Property({ type: 'text', nullable: true })
  lastError!: string | null;
  @Property({ type: 'integer', default: 0 })
  failuresInRow!: number;
  /** Until then nothing is sent. */
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  restsUntil!: Date | null;
  /** When it last took a message, since its URL was set. */
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  answeredAt!: Date | null;
  /** How often its owner used what is free and bounded. */
  @Property({ type: 'json', columnType: 'jsonb', defaultRaw: `'{}'` })
  room!: UsedRoom;
  /** What was to be sent before is not sent by it. */
  @Property({ type: 'Date', columnType: 'timestamptz' })
  createdAt!: Date;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  changedAt!: Date;
  /** `{by, session}`; null where nobody says: its receiver answered 410. */
  @Property({ type: 'json', columnType: 'jsonb', nullable: true })
  changedBy!: JsonObject | null;
}
