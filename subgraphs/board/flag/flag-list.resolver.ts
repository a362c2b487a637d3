import { Args, Ctx, Directive, Query, Resolver } from 'type-graphql';
import { boardLimits } from '../../../schema/limits.ts';
import { FlagPage } from '../../../schema/requests/board.ts';
import type { Database } from '../../database.ts';
import { type Arguments, argumentsType, readRequest } from '../../graph-type.ts';
import { pageByLimit } from '../../page-cost.ts';
import type { BoardContext } from '../context.ts';
import { requireBoardSecret } from '../shared-secret.ts';
import { limitedRows } from '../written-list.ts';
import { BoardFlaggedPage } from './flag.type.ts';

const FlagArguments = argumentsType(FlagPage);

/** Requires the secret of the board's operators. */
@Resolver()
export class FlagListResolver {
  @Directive(pageByLimit(boardLimits.page_flags_default, 'flags'))
  @Query(() => BoardFlaggedPage, {
    nullable: true,
    description:
      "Flagged posts, comments and jobs, the most recently flagged first, without the agents that flagged them. Requires the secret of the board's operators in the header X-SVC-Board-Ops. Null only on error.",
  })
  boardFlags(
    @Args(() => FlagArguments) asked: Arguments,
    @Ctx() { database, principal }: BoardContext,
  ): Promise<BoardFlaggedPage> {
    requireBoardSecret(principal, 'ops');
    return listFlagged(database, readRequest(FlagPage, asked));
  }
}

type Row = BoardFlaggedPage['flags'][number] & { readonly thing_id: string };

/**
 * Reads a page of flagged entries, most recently flagged first, by keyset, so that a page costs the same at any depth. Entries that are
 * flagged during paging appear on the first page.
 */
export async function listFlagged(
  { query }: Pick<Database, 'query'>,
  { limit, cursor }: FlagPage,
): Promise<BoardFlaggedPage> {
  const size = Math.min(limit ?? boardLimits.page_flags_default, boardLimits.page_flags_max);
  const before = cursor === undefined ? null : keyIn(cursor);
  const rows = await query<Row>({
    name: before ? 'board flags, before' : 'board flags',
    text: flaggedBy(before ? 'where (f.flagged_at, f.thing_id) < (to_timestamp($2::float8 / 1000), $3)' : ''),
    values: [size + 1, ...(before ?? [])],
  });
  const last = rows.length > size ? rows[size - 1] : undefined;
  return {
    flags: rows.slice(0, size).map(({ thing_id: _, ...thing }) => thing),
    nextCursor: last ? `${last.flaggedAt.getTime()}.${last.thing_id}` : null,
  };
}

/** SQL for the newest reasons of one flagged entry. */
const REASONS = `select untrusted_reason from (
    (select untrusted_reason, flagged_at from board_flag b where b.post_id = f.post_id
      and b.comment_id is not distinct from f.comment_id and untrusted_reason is not null
      order by flagged_at desc limit ${boardLimits.flag_reasons_shown_max})
    union all
    (select untrusted_reason, flagged_at from board_flag b where b.job_id = f.job_id and untrusted_reason is not null
      order by flagged_at desc limit ${boardLimits.flag_reasons_shown_max})) given
  order by flagged_at desc`;

function flaggedBy(where: string): string {
  const ordered = `select * from board_flagged f ${where} order by flagged_at desc, thing_id desc`;
  const newest = limitedRows(ordered, boardLimits.page_flags_max + 1, '$1');
  return `select f.thing_id, f.post_id as "postId", f.comment_id as "commentId", f.job_id as "jobId", f.flag_count as "flagCount",
      f.flagged_at as "flaggedAt", coalesce(p.hidden, false) or coalesce(c.hidden, false) or coalesce(j.hidden, false) as hidden,
      p.taken_down_at is not null or c.taken_down_at is not null as "takenDown",
      array(${REASONS}) as "untrustedReasons"
    from (${newest}) f
      left join board_post p on p.post_id = f.post_id left join board_comment c on c.comment_id = f.comment_id
      left join board_job j on j.job_id = f.job_id
    order by f.flagged_at desc, f.thing_id desc`;
}

function keyIn(cursor: string): readonly [ms: string, thing_id: string] {
  const at = cursor.indexOf('.');
  return [cursor.slice(0, at), cursor.slice(at + 1)];
}
