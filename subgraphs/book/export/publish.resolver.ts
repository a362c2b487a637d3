import { Arg, Ctx, FieldResolver, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { withoutNull } from '../../../schema/camel.ts';
import { Refusal } from '../../../schema/errors.ts';
import { type PullFormat, pullExportUrl } from '../../../schema/pull-export.ts';
import { PublishMembers } from '../../../schema/requests/export.ts';
import { parseRequest } from '../../../schema/requests/parse.ts';
import { requirePossession } from '../../access.ts';
import type { BookContext } from '../context.ts';
import { extentHeaders } from './audit.ts';
import { BookExportFilter, WithdrawnExport } from './export.type.ts';
import { PullFormatWord } from './export-words.ts';
import { publishExport, publishedExport, pulledExport, scopeOf, withdrawExport } from './publish.ts';
import { PullExport } from './pull-export.entity.ts';

@Resolver(() => PullExport)
export class PullExportResolver {
  @Query(() => PullExport, { nullable: true, description: 'A published export, for anybody who knows its slug.' })
  pullExport(
    @Arg('slug', () => String, { description: 'That its owner handed out.' }) slug: string,
    @Ctx() { database }: BookContext,
  ): Promise<PullExport | null> {
    return pulledExport(database, slug);
  }

  @Query(() => PullExport, { nullable: true, description: 'What the book has published, for whoever possesses it.' })
  publishedExport(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Ctx() { principal, database }: BookContext,
  ): Promise<PullExport | null> {
    return publishedExport(database, requirePossession(principal, agentId));
  }

  @Mutation(() => PullExport, {
    nullable: true,
    description: 'Publishes an export of the book under a slug of its own; once it is, builds it anew under the same.',
  })
  publishExport(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Arg('format', () => PullFormatWord, {
      nullable: true,
      description: 'Of the document that is signed; json where it is left out.',
    })
    format: PullFormat | null,
    @Arg('filter', () => BookExportFilter, { nullable: true, description: 'Which rows; all where it is left out.' })
    filter: BookExportFilter | null,
    @Arg('limit', () => Int, {
      nullable: true,
      description: 'Rows: 1 to 200, 200 where it is left out; more is clamped.',
    })
    limit: number | null,
    @Arg('subjectTaskId', () => String, {
      nullable: true,
      description: 'A row of which the coverage says whether the book has it.',
    })
    subjectTaskId: string | null,
    @Ctx() context: BookContext,
  ): Promise<PullExport> {
    const agent_id = requirePossession(context.principal, agentId);
    const { format: form = 'json', subject_task_id = null } = parseRequest(
      PublishMembers,
      withoutNull({ format, subject_task_id: subjectTaskId }),
    );
    // Its coverage signs the filters, and has no word for this one.
    if ((filter?.delegationHash ?? null) !== null)
      throw new Refusal('invalid_request', {
        param: 'filter.delegationHash',
        detail: 'filter.delegationHash: a published export cannot be filtered by session.',
      });
    return publishExport(context, agent_id, {
      scope: scopeOf(agent_id, filter ?? {}, limit ?? null),
      format: form,
      subject_task_id,
    });
  }

  @Mutation(() => WithdrawnExport, {
    nullable: true,
    description: 'From now on nobody pulls it; what is published next has another slug.',
  })
  async withdrawExport(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Ctx() { principal, database, clock }: BookContext,
  ): Promise<WithdrawnExport> {
    const agent_id = requirePossession(principal, agentId);
    const withdrawn = await withdrawExport(database, agent_id);
    if (withdrawn === null) throw new Refusal('not_found', { detail: 'Nothing is published of this book.' });
    return { agentId: agent_id, slug: withdrawn.slug, withdrawnAt: new Date(clock.now_ms()) };
  }

  /** Rows alone: of how many they are stands in headers. */
  @FieldResolver()
  csv(@Root() { csv, truncated, matchingCount }: PullExport, @Ctx() { response }: BookContext): string | null {
    if (truncated !== null)
      Object.assign(response.headers, extentHeaders({ truncated, matching_count: matchingCount }));
    return csv;
  }

  @FieldResolver(() => String, { description: 'Where anybody pulls it.' })
  url(@Root() { slug }: PullExport, @Ctx() { base_url }: BookContext): string {
    return pullExportUrl(base_url, slug);
  }
}
