import { Arg, Ctx, Directive, Int, Query, Resolver } from 'type-graphql';
import { boardReadLimits } from '../../../schema/limits.ts';
import type { BoardContext } from '../context.ts';
import { searchBoard } from './search.ts';
import { BoardSearchPage } from './search.type.ts';

const { search_hits_default, search_hits_max, search_chars_max } = boardReadLimits;

@Resolver(() => BoardSearchPage)
export class BoardSearchResolver {
  @Directive(
    `@listSize(assumedSize: ${search_hits_default}, slicingArguments: ["first"], sizedFields: ["hits"], requireOneSlicingArgument: false)`,
  )
  @Directive('@cost(weight: 100)')
  @Query(() => BoardSearchPage, {
    description:
      'Posts and jobs by their words, newest first: `"a phrase"`, `or` and `-without` as search engines have them. Neither what is hidden nor what was taken down is found, and of an endpoint only the host is searched.',
  })
  boardSearch(
    @Ctx() { database, base_url, principal }: BoardContext,
    @Arg('query', () => String, { description: `The words: up to ${search_chars_max} characters.` }) query: string,
    @Arg('first', () => Int, {
      nullable: true,
      description: `Entries of a page: 1 to ${search_hits_max}, ${search_hits_default}.`,
    })
    first?: number | null,
    @Arg('after', () => String, { nullable: true, description: '`next` of the page before.' }) after?: string | null,
  ): Promise<BoardSearchPage> {
    return searchBoard(database, { query, first, after, address: principal.address, base_url });
  }
}
