import { Directive, ObjectType } from 'type-graphql';
import { AgentNoun } from '../../../schema/session/registration.ts';
import { showMembers } from '../../graph-type.ts';
import { Entity, PrimaryKey, Property, Unique } from '../../table.ts';

/** A registered wallet, which is the public part of a book. Columns that `AgentNoun` does not name are not public. */
@Directive('@key(fields: "agentId")')
@ObjectType({ description: 'An agent that has registered its wallet, and that has a book.' })
@Entity({ tableName: 'agent' })
@Unique({ name: 'agent_wallet', properties: ['wallet'] })
@Unique({ name: 'agent_task', properties: ['taskId'] })
export class Agent {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;
  @Property({ type: 'text' })
  wallet!: string;
  /** Task of the receipt that registered the agent: its stamp, or an earlier collected call of the same payer. */
  @Property({ type: 'text' })
  taskId!: string;
  @Property({ type: 'text' })
  requestHash!: string;
  /** Always null, because nothing computes a score yet. */
  @Property({ type: 'integer', nullable: true })
  validateScore!: number | null;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  registeredAt!: Date;
}
showMembers(Agent, AgentNoun);
