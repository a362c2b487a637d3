import { Directive, Field, Int, ObjectType } from 'type-graphql';
import { DateTimeScalar } from '../../../schema/scalars.ts';
import { Entity, PrimaryKey, Property, Unique } from '../../table.ts';

/** A wallet that proved control and paid: the public side of a book. What has no `@Field` is not public. */
@Directive('@key(fields: "agentId")')
@ObjectType({ description: 'A registered agent.' })
@Entity({ tableName: 'agent' })
@Unique({ name: 'agent_wallet', properties: ['wallet'] })
@Unique({ name: 'agent_task', properties: ['taskId'] })
export class Agent {
  @Field(() => Int, { description: 'Its number, for ever; its book has the same.' })
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;
  @Field(() => String, { description: 'In EIP-55 spelling.' })
  @Property({ type: 'text' })
  wallet!: string;
  /** The task whose receipt registered this agent: its stamp, or an earlier collected call of the same payer. */
  @Property({ type: 'text' })
  taskId!: string;
  @Field(() => String, { description: 'As its registration brought it, or keccak256 of the text that was signed.' })
  @Property({ type: 'text' })
  requestHash!: string;
  /** Null while nothing scores: no number is better than an invented one. */
  @Property({ type: 'integer', nullable: true })
  validateScore!: number | null;
  @Field(() => DateTimeScalar, { description: 'When its wallet was registered.' })
  @Property({ type: 'Date', columnType: 'timestamptz' })
  registeredAt!: Date;
}
