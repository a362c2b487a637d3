import { Field, Int, ObjectType } from 'type-graphql';
import { graphEnum } from '../../graph-enum.ts';

export type SupersessionStatus = 'none' | 'linear' | 'forked';

export const SupersessionStatusWord = graphEnum<SupersessionStatus>(
  'SupersessionStatus',
  'How the corrections of inflows follow each other.',
  {
    none: 'Nothing was corrected.',
    linear: 'Each row that was corrected has one successor.',
    forked: 'Two corrections name one row: both are kept, and none is elected.',
  },
);

@ObjectType({ description: 'How rows take the place of others: of the whole book, or of the chain of one row.' })
export class Supersession {
  @Field(() => SupersessionStatusWord, { description: 'Whether anything forks.' }) status!: SupersessionStatus;
  @Field(() => String, {
    nullable: true,
    description: 'The task of the one successor that stands; null on a fork, and where several chains end apart.',
  })
  authoritative!: string | null;
  @Field(() => String, {
    nullable: true,
    description:
      'Task id of the correction that merges all branches of the fork. Null if there is no fork, if some branches are not merged, or if the answer covers more than one chain of corrections.',
  })
  mergedBy!: string | null;
  @Field(() => Int, { description: 'Inflows that were corrected.' }) chains!: number;
  @Field(() => Int, { description: 'How often, all together.' }) corrections!: number;
  @Field(() => Int, { description: 'Rows that more than one correction names.' }) forks!: number;
  @Field(() => String, { nullable: true, description: 'Of whose chain this is; null of the whole book.' })
  taskId!: string | null;
}

@ObjectType({ description: "A book's sequence, `svc402.book_seq_report.v1`." })
export class BookSequence {
  @Field(() => String, { description: '`svc402.book_seq_report.v1`.' }) schema!: string;
  @Field(() => Int, { description: 'Whose book.' }) agentId!: number;
  @Field(() => Int, { description: 'Where its last row stands; 0 where there is none.' }) seq!: number;
  @Field(() => Int, { description: 'How many rows it has.' }) count!: number;
  @Field(() => Boolean, { description: 'Positions are exactly 1 to `seq`. It elects no tip.' }) gapless!: boolean;
  @Field(() => Supersession, { description: 'What its corrections of inflows come to.' })
  supersession!: Supersession;
}
