import { GraphQLJSONObject } from 'graphql-scalars';
import { Arg, Ctx, Directive, FieldResolver, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { z } from 'zod';
import { toSnakeKeys, withoutNull } from '../../../schema/camel.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { limits } from '../../../schema/limits.ts';
import { disputeStatusUrl } from '../../../schema/links.ts';
import { pageRows } from '../../../schema/requests/book.ts';
import { DisputeMembers, DisputePageMembers } from '../../../schema/requests/dispute.ts';
import { parseRequest } from '../../../schema/requests/parse.ts';
import { DateTimeScalar } from '../../../schema/scalars.ts';
import { requirePossession } from '../../access.ts';
import { pageByLimit } from '../../page-cost.ts';
import { requireNotHalted } from '../../receipt/log/while-halted.ts';
import type { BookContext } from '../context.ts';
import { soundHead } from '../page/page.ts';
import { Dispute } from './dispute.entity.ts';
import { DisputeInput, DisputeStatus, Disputes, FiledDispute } from './dispute.type.ts';
import { fileDispute } from './file.ts';
import { disputeOf, disputeStatusOf, disputesOf } from './find.ts';

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
    const found = await disputesOf(database, agent_id, { ...page, limit: page.limit + 1 });
    const disputes = found.slice(0, page.limit);
    return {
      agentId: agent_id,
      disputes,
      next: found.length > page.limit ? (disputes.at(-1)?.disputeId ?? null) : null,
    };
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

  @Query(() => DisputeStatus, {
    nullable: true,
    description:
      'Public: which judgement of a dispute is the latest, for anyone who holds a verdict. Null if no dispute has this id.',
  })
  async disputeStatus(
    @Arg('disputeId', () => String, { description: 'Id of the dispute, as its verdict names it.' }) disputeId: string,
    @Ctx() { database }: BookContext,
  ): Promise<DisputeStatus | null> {
    // A later judgement may be among what was lost.
    requireNotHalted(database);
    return disputeStatusOf(database, disputeId);
  }

  @FieldResolver(() => DateTimeScalar, {
    nullable: true,
    description:
      'Time after which an open dispute can be decided: file the same dispute again then. Null if it is decided, or if no time is known.',
  })
  decidesAfter(@Root() { outcome, decidesAfter }: Dispute): Date | null {
    return outcome === null ? decidesAfter : null;
  }

  @FieldResolver(() => Boolean, {
    description: 'True for a refund, which no later verdict supersedes. False for all else.',
  })
  final(@Root() { outcome }: Dispute): boolean {
    return outcome === 'refund';
  }

  @FieldResolver(() => String, {
    description: 'Public URL that names the latest judgement of the dispute by its number and hash.',
  })
  statusUrl(@Root() { disputeId }: Dispute, @Ctx() { issuer }: BookContext): string {
    return disputeStatusUrl(issuer.base_url, disputeId);
  }

  @Directive('@cost(weight: 10)')
  @FieldResolver(() => GraphQLJSONObject, {
    description: 'The signed document: `npm run verify` runs it again, offline.',
  })
  verdict(@Root() { verdict }: Dispute): JsonObject {
    return JSON.parse(verdict) as JsonObject;
  }
}
