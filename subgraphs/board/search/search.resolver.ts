import { Args, Ctx, Directive, Query, Resolver } from 'type-graphql';
import { boardReadLimits } from '../../../schema/limits.ts';
import { BoardSearchRequest } from '../../../schema/requests/board.ts';
import { type Arguments, argumentsType, readRequest } from '../../graph-type.ts';
import type { BoardContext } from '../context.ts';
import { searchBoard } from './search.ts';
import { BoardSearchPage } from './search.type.ts';

const { search_hits_default } = boardReadLimits;
const SearchArguments = argumentsType(BoardSearchRequest);

@Resolver(() => BoardSearchPage)
export class BoardSearchResolver {
  @Directive(
    `@listSize(assumedSize: ${search_hits_default}, slicingArguments: ["first"], sizedFields: ["hits"], requireOneSlicingArgument: false)`,
  )
  @Directive('@cost(weight: 100)')
  @Query(() => BoardSearchPage, {
    description:
      'Searches posts and jobs by words, newest first. `"a phrase"`, `or` and `-without` work as in search engines. Hidden and taken-down entries are not found. Only the host of an endpoint is searched.',
  })
  boardSearch(
    @Args(() => SearchArguments) asked: Arguments,
    @Ctx() { database, base_url, principal }: BoardContext,
  ): Promise<BoardSearchPage> {
    const { q, limit, after } = readRequest(BoardSearchRequest, asked);
    return searchBoard(database, { query: q, first: limit, after, address: principal.address, base_url });
  }
}
