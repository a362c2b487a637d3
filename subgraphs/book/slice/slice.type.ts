import { Directive, Field, InputType, Int, ObjectType } from 'type-graphql';
import { sliceLimits } from '../../../schema/limits.ts';
import type { MembersOf } from '../../../schema/noun.ts';
import { DateTimeScalar } from '../../../schema/scalars.ts';
import { type GrantType, type Slice, SliceBoundsNoun } from '../../../schema/slice.ts';
import { showMembers } from '../../graph-type.ts';
import { BookRow } from '../ledger/row.entity.ts';
import { GrantTypeWord, SliceAssignment } from './assignment.entity.ts';

const words = {
  fromDate: 'Rows collected at this moment or later.',
  toDate: 'Rows collected before this moment.',
  taskIds: 'The rows of these tasks.',
  limit: 'No more than so many of these rows, the newest.',
} as const;

@InputType({ description: 'Which rows: those of which all that is said is true. What is left out narrows nothing.' })
export class SliceInput {
  @Field(() => DateTimeScalar, { nullable: true, description: words.fromDate }) fromDate?: Date | null;
  @Field(() => DateTimeScalar, { nullable: true, description: words.toDate }) toDate?: Date | null;
  @Field(() => [String], { nullable: true, description: words.taskIds }) taskIds?: string[] | null;
  @Field(() => Int, { nullable: true, description: words.limit }) limit?: number | null;
}

@InputType({ description: 'What is opened, to whom, and until when.' })
export class AssignmentInput {
  @Field(() => GrantTypeWord, { nullable: true, description: 'read where it is left out.' })
  grantType?: GrantType | null;
  @Field(() => String, { nullable: true, description: 'For whom, in words of the owner.' })
  grantee?: string | null;
  @Field(() => SliceInput, { nullable: true, description: 'Which rows; all where it is left out.' })
  slice?: SliceInput | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When the token ends; null: when it is revoked.' })
  expiresAt?: Date | null;
}

const SliceBounds = class {} as new () => MembersOf<typeof SliceBoundsNoun>;

@ObjectType('Slice', { description: 'Which rows of a book: those of which all that is said is true.' })
export class ShownSliceBounds extends SliceBounds {}
showMembers(ShownSliceBounds, SliceBoundsNoun);

export function shownBounds({ from_date, to_date, task_ids, limit }: Slice): ShownSliceBounds {
  const moment = (date: string | null) => (date === null ? null : new Date(date));
  return { fromDate: moment(from_date), toDate: moment(to_date), taskIds: task_ids, limit };
}

@ObjectType({ description: 'What an owner has opened of a book.' })
export class Assignments {
  @Field(() => Int, { description: 'Whose book.' }) agentId!: number;
  @Directive(`@listSize(assumedSize: ${sliceLimits.live_per_book_max + sliceLimits.over_kept_max})`)
  @Field(() => [SliceAssignment], {
    description: `Newest first: all that are live, and the newest ${sliceLimits.over_kept_max} that are over.`,
  })
  assignments!: readonly SliceAssignment[];
}

@ObjectType({ description: 'An assignment, and the token that opens its slice.' })
export class CreatedAssignment {
  @Field(() => SliceAssignment, { description: 'As it is kept.' }) assignment!: SliceAssignment;
  @Field(() => String, { description: 'The whole credential of the slice. It is shown here and never again.' })
  token!: string;
}

@ObjectType({ description: 'The rows that a token opens, and nothing else of the book.' })
export class BookSlice {
  @Field(() => Int, { description: 'Whose book.' }) agentId!: number;
  @Field(() => GrantTypeWord, { description: 'What the token does.' }) grantType!: GrantType;
  @Field(() => ShownSliceBounds, { description: 'Which rows.' }) slice!: ShownSliceBounds;
  @Field(() => [BookRow], {
    description:
      "Newest first. Of a refused call no sum and no ceiling is shown, and of no row its hashes, by which these could be guessed: they are the whole book's.",
  })
  entries!: BookRow[];
  @Directive('@cost(weight: 50)')
  @Field(() => Int, {
    nullable: true,
    description: '`before` of the next page. Null if the slice has no further rows.',
  })
  next!: number | null;
}
