import { ObjectType } from 'type-graphql';
import type { AgentId } from '../../../schema/ids.ts';
import type { WebhookKind } from '../../../schema/webhook/kinds.ts';
import { WebhookDeadLetterNoun } from '../../../schema/webhook/webhook.ts';
import { showMembers } from '../../graph-type.ts';
import { Entity, Index, PrimaryKey, Property } from '../../table.ts';

/** A message that could not be delivered. Its content is not stored, because a redelivery makes the message from the book again. */
@ObjectType('WebhookDeadLetter', { description: 'A message that could not be delivered.' })
@Entity({ tableName: 'webhook_dead_letter' })
export class WebhookDeadLetter {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: AgentId;
  @PrimaryKey({ type: 'integer', autoincrement: false })
  position!: number;
  @PrimaryKey({ type: 'text' })
  kind!: WebhookKind;
  @Property({ type: 'integer' })
  attempts!: number;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  @Index({ name: 'webhook_dead_letter_age' })
  givenUpAt!: Date;
  @Property({ type: 'integer', nullable: true })
  lastStatus!: number | null;
  @Property({ type: 'text', nullable: true })
  lastError!: string | null;
}
showMembers(WebhookDeadLetter, WebhookDeadLetterNoun);
