import { Directive, Field, ObjectType } from 'type-graphql';

/** A receipt by its key: whoever keeps receipts resolves it. Of its own, since what books add to theirs is not this subgraph's. */
@Directive('@key(fields: "taskId")')
@ObjectType('Receipt', { description: 'A signed spend receipt: one leaf of the append-only log.' })
export class CitedReceipt {
  @Field(() => String, { description: 'The task that it is of.' }) taskId!: string;
}
