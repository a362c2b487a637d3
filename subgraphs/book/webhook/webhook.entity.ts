import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { WebhookKind } from '../../../schema/webhook/kinds.ts';
import { Entity, PrimaryKey, Property } from '../../table.ts';
import type { HourlyUses } from './room.ts';

/**
 * Webhook of a book and the state of its deliveries. The row stays when the webhook is removed, so that removing it does not reset the
 * hourly limits. The counters are not on the head, so that deliveries do not delay calls.
 */
@Entity({ tableName: 'webhook' })
export class Webhook {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: AgentId;
  /** Encrypted URL and secrets. Null if the webhook was removed. */
  @Property({ type: 'blob', nullable: true })
  box!: Buffer | null;
  @Property({ type: 'json', columnType: 'jsonb' })
  events!: readonly WebhookKind[];
  @Property({ type: 'boolean' })
  enabled!: boolean;
  /** Position of the event up to which all messages were sent once. A message that failed has its own job. */
  @Property({ type: 'integer', default: 0 })
  toldPosition!: number;
  /** Number of the message up to which all messages were sent once. */
  @Property({ type: 'integer', default: 0 })
  toldMessages!: number;
  /** Number of accepted messages. */
  @Property({ type: 'integer', default: 0 })
  deliveries!: number;
  /** Number of failed attempts. */
  @Property({ type: 'integer', default: 0 })
  failures!: number;
  @Property({ type: 'integer', nullable: true })
  lastStatus!: number | null;
  @Property({ type: 'text', nullable: true })
  lastError!: string | null;
  @Property({ type: 'integer', default: 0 })
  failuresInRow!: number;
  /** Time until which nothing is sent, because the receiver has failed. Null if it has not. */
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  restsUntil!: Date | null;
  /** Time of the last accepted message. Null if the receiver was not prompt, or has accepted none since it was set or enabled. */
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  answeredAt!: Date | null;
  /** Requests of the owner that count toward the hourly limits. */
  @Property({ type: 'json', columnType: 'jsonb', defaultRaw: `'{}'` })
  room!: HourlyUses;
  /** Time at which the webhook was set. Messages from before this time are not sent. */
  @Property({ type: 'Date', columnType: 'timestamptz' })
  createdAt!: Date;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  changedAt!: Date;
  /** `{by, session}` of the last change. Null if the receiver answered 410. */
  @Property({ type: 'json', columnType: 'jsonb', nullable: true })
  changedBy!: JsonObject | null;
}
