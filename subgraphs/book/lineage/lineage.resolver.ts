import { Arg, Ctx, Directive, Int, Query, Resolver } from 'type-graphql';
import { Refusal } from '../../../schema/errors.ts';
import { limits, lineageLimits } from '../../../schema/limits.ts';
import { PAGE_LIMIT_BOUNDS, pageRows } from '../../../schema/requests/book.ts';
import { requirePossession } from '../../access.ts';
import { pageByLimit } from '../../page-cost.ts';
import { Semaphore } from '../../semaphore.ts';
import type { BookContext } from '../context.ts';
import { soundHead } from '../page/page.ts';
import { Lineage } from './lineage.type.ts';
import { readLineage } from './read.ts';

/** The widest takes a second, and each page of it as long: a few at a time, and whoever asks for many waits behind the others. */
const turns = new Semaphore({
  at_once_max: lineageLimits.reads_at_once_max,
  wait_ms_max: lineageLimits.read_wait_ms_max,
  waiting_per_asker_max: lineageLimits.reads_waiting_per_book_max,
});

@Resolver(() => Lineage)
export class BookLineageResolver {
  @Directive(pageByLimit(limits.book_page_rows_default, 'descendants'))
  @Query(() => Lineage, {
    nullable: true,
    description: 'What a row follows from and what follows from it, for whoever possesses its book.',
  })
  async lineage(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Arg('taskId', () => String, { description: 'The task of a row on it; else forbidden.' }) taskId: string,
    @Arg('limit', () => Int, { nullable: true, description: 'Descendants: 1 to 200, 50 where it is left out.' })
    limit: number | null,
    @Arg('after', () => Int, { nullable: true, description: 'Descendants behind the row of this seq: see `next`.' })
    after: number | null,
    @Ctx() { principal, database }: BookContext,
  ): Promise<Lineage> {
    const agent_id = requirePossession(principal, agentId);
    if (typeof limit === 'number' && limit < 1)
      throw new Refusal('invalid_request', { param: 'limit', detail: `limit ${PAGE_LIMIT_BOUNDS}.` });
    await soundHead(database, agent_id);
    const page = { limit: pageRows(limit), after: after ?? 0 };
    const turn = await turns.take(String(agent_id), async () => ({
      found: await readLineage(database, agent_id, taskId, page),
    }));
    if (turn === null)
      throw new Refusal('rate_limited', { detail: 'Too many lineages are read at once; ask again in a moment.' });
    if (turn.found === null) throw new Refusal('task_not_on_book');
    return turn.found;
  }
}
