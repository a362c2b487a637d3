import { Args, Ctx, Query, Resolver } from 'type-graphql';
import { SequenceRequest } from '../../../schema/requests/book.ts';
import { BookPath } from '../../../schema/requests/book-path.ts';
import { requirePossession } from '../../access.ts';
import { type ArgumentsOfBook, argumentsType, readRequest } from '../../graph-type.ts';
import type { BookContext } from '../context.ts';
import { sequenceOf } from './sequence.ts';
import { BookSequence } from './sequence.type.ts';

const SequenceArguments = argumentsType(BookPath, SequenceRequest);

@Resolver(() => BookSequence)
export class BookSequenceResolver {
  @Query(() => BookSequence, {
    nullable: true,
    description:
      'Whether the seqs of the rows of a book have gaps, and how its corrections follow each other. Requires possession of the book. Null if there is an error.',
  })
  bookSequence(
    @Args(() => SequenceArguments) args: ArgumentsOfBook,
    @Ctx() { principal, database }: BookContext,
  ): Promise<BookSequence> {
    const agent_id = requirePossession(principal, args.agentId);
    return sequenceOf(database, agent_id, readRequest(SequenceRequest, args).task_id ?? null);
  }
}
