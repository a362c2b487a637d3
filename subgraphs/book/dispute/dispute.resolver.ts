import { GraphQLJSONObject } from 'graphql-scalars';
import { Arg, Ctx, Directive, FieldResolver, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { z } from 'zod';
import { toSnakeKeys, withoutNull } from '../../../schema/camel.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { limits } from '../../../schema/limits.ts';
import { pageRows } from '../../../schema/requests/book.ts';
import { DisputeMembers, DisputePageMembers } from '../../../schema/requests/dispute.ts';
import { parseRequest } from '../../../schema/requests/parse.ts';
import { requirePossession } from '../../access.ts';
import { pageByLimit } from '../../page-cost.ts';
import type { BookContext } from '../context.ts';
import { soundHead } from '../page/page.ts';
import { Dispute } from './dispute.entity.ts';
import { DisputeInput, Disputes, FiledDispute } from './dispute.type.ts';
import { fileDispute } from './file.ts';
import { disputeOf, disputesOf } from './find.ts';

const PageMembers = z.object(DisputePageMembers);

@Resolver(() => Dispute)
export class DisputeResolver {
  @Directive(pageByLimit(limits.book_page_rows_default, 'disputes'))
  @Query(() => Disputes, { nullable: true, description: 'What was claimed of rows, for whoever possesses the book.' })
  async disputes(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Arg('limit', () => Int, { nullable: true, description: '1 to 200, 50 where it is left out; more is clamped.' })
    limit: number | null,
    @Arg('before', () => String, { nullable: true, description: 'Those filed before the one of this id.' })
    before: string | null,
    @Ctx() { principal, database }: BookContext,
  ): Promise<Disputes> {
    const agent_id = requirePossession(principal, agentId);
    const asked = parseRequest(PageMembers, withoutNull({ limit, before }));
    await soundHead(database, agent_id);
    const page = { limit: pageRows(asked.limit), before: asked.before ?? null };
    return { agentId: agent_id, disputes: await disputesOf(database, agent_id, page) };
  }

  @Query(() => Dispute, { nullable: true, description: 'One of them; null where the book has none of that id.' })
  async dispute(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Arg('disputeId', () => String, { description: 'Which one.' }) disputeId: string,
    @Ctx() { principal, database }: BookContext,
  ): Promise<Dispute | null> {
    const agent_id = requirePossession(principal, agentId);
    await soundHead(database, agent_id);
    return disputeOf(database, agent_id, disputeId);
  }

  @Mutation(() => FiledDispute, {
    nullable: true,
    description: 'Claims something of a row; it is decided at once as far as the records do. Again it is the same.',
  })
  fileDispute(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Arg('input', () => DisputeInput, { description: 'What, of which row.' }) input: DisputeInput,
    @Ctx() context: BookContext,
  ): Promise<FiledDispute> {
    const agent_id = requirePossession(context.principal, agentId);
    return fileDispute(
      context,
      agent_id,
      parseRequest(DisputeMembers, toSnakeKeys(withoutNull({ ...input }), ['evidence'])),
    );
  }

  @Directive('@cost(weight: 10)')
  @FieldResolver(() => GraphQLJSONObject, {
    description: 'The signed document: `npm run verify` runs it again, offline.',
  })
  verdict(@Root() { verdict }: Dispute): JsonObject {
    return JSON.parse(verdict) as JsonObject;
  }
}
