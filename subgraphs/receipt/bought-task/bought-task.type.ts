import 'reflect-metadata';
import { Field, Int, ObjectType } from 'type-graphql';
import { DateTimeScalar } from '../../../schema/scalars.ts';
import { type TaskState, taskStates } from '../../../schema/task-state.ts';
import { wordEnum } from '../../graph-enum.ts';

export const TaskStateWord = wordEnum(taskStates);

@ObjectType({ description: 'A task as whoever asks for it may see it.' })
export class BoughtTask {
  @Field(() => String, { description: 'The task.' })
  taskId!: string;

  @Field(() => TaskStateWord, { description: 'Where it stands.' })
  state!: TaskState;

  @Field(() => DateTimeScalar, { description: 'Since when.' })
  at!: Date;

  @Field(() => String, {
    description: 'The intent under which it was bought; or else its buyer’s offer, or the task itself.',
  })
  contextId!: string;

  @Field(() => Boolean, {
    description: 'Whether the caller has shown to have bought it: what it brought is shown to nobody else.',
  })
  isBuyers!: boolean;
}

@ObjectType({ description: 'Tasks of one’s own, those first that have moved last.' })
export class BoughtTasks {
  @Field(() => [BoughtTask], { description: 'Of this page.' }) tasks!: BoughtTask[];
  @Field(() => Int, { description: 'Of all pages: the newest thousand of each kind are looked through.' })
  total!: number;
  @Field(() => String, { nullable: true, description: '`before` of the next page; null where this is the last.' })
  next!: string | null;
}
