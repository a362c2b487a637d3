import { Field, Int, ObjectType } from 'type-graphql';
import type { AgentId } from '../../../schema/ids.ts';
import { DateTimeScalar } from '../../../schema/scalars.ts';
import type { WebhookKind } from '../../../schema/webhook/kinds.ts';
import { Entity, Index, PrimaryKey, Property } from '../../table.ts';
import { WebhookKindWord } from './webhook-words.ts';

/** A message that was given up. It holds nothing of the message: that is made of the book again where it is redelivered. */
@ObjectType('WebhookDeadLetter', { description: 'A message that was given up, until it is redelivered.' })
@Entity({ tableName: 'webhook_dead_letter' })
export class WebhookDeadLetter {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: AgentId;
  @Field(() => Int, { description: 'The position of its event.' })
  @PrimaryKey({ type: 'integer', autoincrement: false })
  position!: number;
  @Field(() => WebhookKindWord, { description: 'What it tells.' })
  @PrimaryKey({ type: 'text' })
  kind!: WebhookKind;
  @Field(() => Int, { description: 'How often it was sent.' })
  @Property({ type: 'integer' })
  attempts!: number;
  @Field(() => DateTimeScalar, { description: 'When it was given up.' })
  @Property({ type: 'Date', columnType: 'timestamptz' })
  @Index({ name: 'webhook_dead_letter_age' })
  givenUpAt!: Date;
  @Field(() => Int, { nullable: true, description: 'What the last attempt was answered; null where it was not.' })
  @Property({ type: 'integer', nullable: true })
  lastStatus!: number | null;
  @Field(() => String, { nullable: true, description: 'Why it was given up.' })
  @Property({ type: 'text', nullable: true })
  lastError!: string | null;
}
