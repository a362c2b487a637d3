import { GraphQLJSONObject } from 'graphql-scalars';
import { Arg, Args, Ctx, Directive, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { SignedDisputeNoun } from '../../../schema/dispute/dispute.ts';
import { limits } from '../../../schema/limits.ts';
import { disputeStatusUrl } from '../../../schema/links.ts';
import { pageRows } from '../../../schema/requests/book.ts';
import { BookPath } from '../../../schema/requests/book-path.ts';
import { DisputePage, DisputePath, DisputeRequest } from '../../../schema/requests/dispute.ts';
import { DateTimeScalar } from '../../../schema/scalars.ts';
import { requirePossession } from '../../access.ts';
import {
  type Arguments,
  type ArgumentsOfBook,
  argumentsType,
  descriptionOptions,
  givenMembers,
  readRequest,
} from '../../graph-type.ts';
import { pageByLimit } from '../../page-cost.ts';
import { requireNotHalted } from '../../receipt/log/halt-guard.ts';
import type { BookContext } from '../context.ts';
import { soundHead } from '../page/page.ts';
import { Dispute } from './dispute.entity.ts';
import { DisputeInput, DisputeStatus, Disputes, FiledDispute } from './dispute.type.ts';
import { fileDispute } from './file.ts';
import { disputeOf, disputeStatusOf, disputesOf } from './find.ts';

const shown = SignedDisputeNoun.shape;
const PageArguments = argumentsType(BookPath, DisputePage);
const DisputeArguments = argumentsType(BookPath, DisputePath);
const FileArguments = argumentsType(BookPath);
const StatusArguments = argumentsType(DisputePath);

@Resolver(() => Dispute)
export class DisputeResolver {
  @Directive(pageByLimit(limits.book_page_rows_default, 'disputes'))
  @Query(() => Disputes, {
    nullable: true,
    description: 'Disputes of rows of a book. Requires possession of the book. Null if there is an error.',
  })
  async disputes(
    @Args(() => PageArguments) args: ArgumentsOfBook,
    @Ctx() { principal, database }: BookContext,
  ): Promise<Disputes> {
    const agent_id = requirePossession(principal, args.agentId);
    const { limit, before = null } = readRequest(DisputePage, args);
    await soundHead(database, agent_id);
    const rows = pageRows(limit);
    const found = await disputesOf(database, agent_id, { limit: rows + 1, before });
    const disputes = found.slice(0, rows);
    return { agentId: agent_id, disputes, next: found.length > rows ? (disputes.at(-1)?.disputeId ?? null) : null };
  }

  @Query(() => Dispute, {
    nullable: true,
    description:
      'A dispute of a book. Requires possession of the book. Null if the book has none with this id, or if there is an error.',
  })
  async dispute(
    @Args(() => DisputeArguments) args: ArgumentsOfBook,
    @Ctx() { principal, database }: BookContext,
  ): Promise<Dispute | null> {
    const agent_id = requirePossession(principal, args.agentId);
    await soundHead(database, agent_id);
    return disputeOf(database, agent_id, givenMembers(DisputePath, args).dispute_id);
  }

  @Mutation(() => FiledDispute, {
    nullable: true,
    description:
      'Files a dispute of a row. It is decided at once if the records decide it, and otherwise stays open. Filing the same dispute again judges the existing one again, unless its outcome is a refund. Requires possession of the book. Null if there is an error.',
  })
  fileDispute(
    @Arg('input', () => DisputeInput, { description: 'The disputed row, the claim and the evidence.' })
    input: Arguments,
    @Args(() => FileArguments) { agentId }: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<InstanceType<typeof FiledDispute>> {
    const agent_id = requirePossession(context.principal, agentId);
    return fileDispute(context, agent_id, readRequest(DisputeRequest, input, context));
  }

  @Query(() => DisputeStatus, {
    nullable: true,
    description:
      'Number and hash of the latest judgement of a dispute, to check whether a verdict is still current. Public. Null if no dispute has this id, or if there is an error.',
  })
  async disputeStatus(
    @Args(() => StatusArguments) args: Arguments,
    @Ctx() { database }: BookContext,
  ): Promise<DisputeStatus | null> {
    // A later judgement may be missing from the database after the log broke.
    requireNotHalted(database);
    return disputeStatusOf(database, givenMembers(DisputePath, args).dispute_id);
  }

  @FieldResolver(() => DateTimeScalar, { nullable: true, ...descriptionOptions(shown.decides_after) })
  decidesAfter(@Root() { outcome, decidesAfter }: Dispute): Date | null {
    return outcome === null ? decidesAfter : null;
  }

  @FieldResolver(() => Boolean, descriptionOptions(shown.final))
  final(@Root() { outcome }: Dispute): boolean {
    return outcome === 'refund';
  }

  @FieldResolver(() => String, descriptionOptions(shown.status_url))
  statusUrl(@Root() { disputeId }: Dispute, @Ctx() { issuer }: BookContext): string {
    return disputeStatusUrl(issuer.base_url, disputeId);
  }

  @Directive('@cost(weight: 10)')
  @FieldResolver(() => GraphQLJSONObject, descriptionOptions(shown.verdict))
  verdict(@Root() { verdict }: Dispute): JsonObject {
    return JSON.parse(verdict) as JsonObject;
  }
}
