import { Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { PublishedExportNoun } from '../../../schema/book/export.ts';
import { Refusal } from '../../../schema/errors.ts';
import { pullExportUrl } from '../../../schema/pull-export.ts';
import { BookPath } from '../../../schema/requests/book-path.ts';
import { PublishedPageRequest, PullExportPath } from '../../../schema/requests/export.ts';
import { requirePossession } from '../../access.ts';
import {
  type Arguments,
  type ArgumentsOfBook,
  argumentsType,
  descriptionOptions,
  givenMembers,
  readRequest,
} from '../../graph-type.ts';
import type { BookContext } from '../context.ts';
import { rowFilter } from '../page/page-arguments.type.ts';
import { extentHeaders } from './audit.ts';
import { WithdrawnExport } from './export.type.ts';
import { publishExport, publishedExport, pulledExport, scopeOf, withdrawExport } from './publish.ts';
import { PullExport } from './pull-export.entity.ts';

const PullArguments = argumentsType(PullExportPath);
const BookArguments = argumentsType(BookPath);
const PublishArguments = argumentsType(BookPath, PublishedPageRequest);

@Resolver(() => PullExport)
export class PullExportResolver {
  @Query(() => PullExport, {
    nullable: true,
    description:
      'A published export. Public: anybody who knows the slug may read it. Null if no export has this slug, if it was withdrawn, or if there is an error.',
  })
  pullExport(@Args(() => PullArguments) args: Arguments, @Ctx() { database }: BookContext): Promise<PullExport | null> {
    return pulledExport(database, givenMembers(PullExportPath, args).slug);
  }

  @Query(() => PullExport, {
    nullable: true,
    description:
      'The export that the book has published. Requires possession of the book. Null if none is published, or if there is an error.',
  })
  publishedExport(
    @Args(() => BookArguments) args: ArgumentsOfBook,
    @Ctx() { principal, database }: BookContext,
  ): Promise<PullExport | null> {
    return publishedExport(database, requirePossession(principal, args.agentId));
  }

  @Mutation(() => PullExport, {
    nullable: true,
    description:
      'Publishes an export of the book under a new slug. If an export is published already, this one replaces it under the same slug. Requires possession of the book. Null if there is an error.',
  })
  publishExport(@Args(() => PublishArguments) args: ArgumentsOfBook, @Ctx() context: BookContext): Promise<PullExport> {
    const agent_id = requirePossession(context.principal, args.agentId);
    const {
      format = 'json',
      subject_task_id = null,
      filter = {},
      limit = null,
    } = readRequest(PublishedPageRequest, args);
    // The signed coverage has no member for this filter.
    if (filter.delegation_hash !== undefined)
      throw new Refusal('invalid_request', {
        param: 'filter.delegationHash',
        detail: 'filter.delegationHash: a published export cannot be filtered by session.',
      });
    const scope = scopeOf(agent_id, rowFilter(filter), limit);
    return publishExport(context, agent_id, { scope, format, subject_task_id });
  }

  @Mutation(() => WithdrawnExport, {
    nullable: true,
    description:
      'Withdraws the published export: nobody can read it from now on. The next publication gets another slug. Requires possession of the book. Null if there is an error.',
  })
  async withdrawExport(
    @Args(() => BookArguments) args: ArgumentsOfBook,
    @Ctx() { principal, database, clock }: BookContext,
  ): Promise<WithdrawnExport> {
    const agent_id = requirePossession(principal, args.agentId);
    const withdrawn = await withdrawExport(database, agent_id);
    if (withdrawn === null) throw new Refusal('not_found', { detail: 'The book has no published export.' });
    return { agentId: agent_id, slug: withdrawn.slug, withdrawnAt: new Date(clock.now_ms()) };
  }

  /** CSV contains only rows, so headers state how many rows match. */
  @FieldResolver()
  csv(@Root() { csv, truncated, matchingCount }: PullExport, @Ctx() { response }: BookContext): string {
    if (truncated !== null)
      Object.assign(response.headers, extentHeaders({ truncated, matching_count: matchingCount }));
    return csv;
  }

  @FieldResolver(() => String, descriptionOptions(PublishedExportNoun.shape.url))
  url(@Root() { slug }: PullExport, @Ctx() { base_url }: BookContext): string {
    return pullExportUrl(base_url, slug);
  }
}
