import { Arg, Ctx, Int, Query, Resolver } from 'type-graphql';
import { requirePossession } from '../../access.ts';
import type { BookContext } from '../context.ts';
import { sequenceOf } from './sequence.ts';
import { BookSequence } from './sequence.type.ts';

@Resolver(() => BookSequence)
export class BookSequenceResolver {
  @Query(() => BookSequence, {
    nullable: true,
    description: 'Whether the rows of a book are without a gap, and how corrections follow each other.',
  })
  bookSequence(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Arg('taskId', () => String, {
      nullable: true,
      description: 'Of a row: then `supersession` is of the chain that it stands in.',
    })
    taskId: string | null,
    @Ctx() { principal, database }: BookContext,
  ): Promise<BookSequence> {
    return sequenceOf(database, requirePossession(principal, agentId), taskId ?? null);
  }
}
