import { Args, Ctx, Directive, Query, Resolver } from 'type-graphql';
import { Refusal } from '../../../schema/errors.ts';
import { limits, lineageLimits } from '../../../schema/limits.ts';
import { LineagePage, LineagePath } from '../../../schema/requests/book.ts';
import { requirePossession } from '../../access.ts';
import { type ArgumentsOfBook, argumentsType, givenMembers, readRequest } from '../../graph-type.ts';
import { pageByLimit } from '../../page-cost.ts';
import { Semaphore } from '../../semaphore.ts';
import type { BookContext } from '../context.ts';
import { soundHead } from '../page/page.ts';
import { Lineage } from './lineage.type.ts';
import { readLineage } from './read.ts';

/** Limits reads, because the largest lineages take a second per page. Books take turns. */
const turns = new Semaphore({
  at_once_max: lineageLimits.reads_at_once_max,
  wait_ms_max: lineageLimits.read_wait_ms_max,
  waiting_per_asker_max: lineageLimits.reads_waiting_per_book_max,
});

const LineageArguments = argumentsType(LineagePath, LineagePage);

@Resolver(() => Lineage)
export class BookLineageResolver {
  @Directive(pageByLimit(limits.book_page_rows_default, 'descendants'))
  @Query(() => Lineage, {
    nullable: true,
    description: 'Ancestors and descendants of a row. Requires possession of its book. Null if there is an error.',
  })
  async lineage(
    @Args(() => LineageArguments) args: ArgumentsOfBook,
    @Ctx() { principal, database }: BookContext,
  ): Promise<Lineage> {
    const agent_id = requirePossession(principal, args.agentId);
    const page = readRequest(LineagePage, args);
    await soundHead(database, agent_id);
    const { task_id } = givenMembers(LineagePath, args);
    const turn = await turns.take(String(agent_id), async () => ({
      found: await readLineage(database, agent_id, task_id, page),
    }));
    if (turn === null)
      throw new Refusal('rate_limited', { detail: 'Too many lineages are being read. Try again in a moment.' });
    if (turn.found === null) throw new Refusal('task_not_on_book');
    return turn.found;
  }
}
