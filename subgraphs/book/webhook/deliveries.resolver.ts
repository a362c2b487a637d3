import { Args, Ctx, Directive, Mutation, Query, Resolver } from 'type-graphql';
import { webhookLimits } from '../../../schema/limits.ts';
import { BookPath } from '../../../schema/requests/book-path.ts';
import { DeadLetterPage, RedeliveryRequest } from '../../../schema/requests/webhook.ts';
import { requireHeld, requirePossession } from '../../access.ts';
import { type ArgumentsOfBook, argumentsType, readRequest } from '../../graph-type.ts';
import { pageByLimit } from '../../page-cost.ts';
import type { BookContext } from '../context.ts';
import { deadLetters } from './dead-letters.ts';
import { ping, redeliverMessages } from './redeliver.ts';
import { WebhookDeadLetters, WebhookPing, WebhookSent } from './webhook.type.ts';

const BookArguments = argumentsType(BookPath);
const PageArguments = argumentsType(BookPath, DeadLetterPage);
const RedeliveryArguments = argumentsType(BookPath, RedeliveryRequest);

@Resolver(() => WebhookDeadLetters)
export class WebhookDeliveriesResolver {
  @Directive(pageByLimit(webhookLimits.dead_letters_page_default, 'deadLetters'))
  @Query(() => WebhookDeadLetters, {
    nullable: true,
    description: 'Messages of the webhook that were given up, for whoever possesses the book.',
  })
  async webhookDeadLetters(
    @Args(() => PageArguments) asked: ArgumentsOfBook,
    @Ctx() { principal, database }: BookContext,
  ): Promise<WebhookDeadLetters> {
    const agent_id = requirePossession(principal, asked.agentId);
    return { agentId: agent_id, ...(await deadLetters(database, agent_id, readRequest(DeadLetterPage, asked))) };
  }

  @Mutation(() => WebhookSent, {
    nullable: true,
    description: 'Sends the messages of a range of positions again.',
  })
  async redeliverWebhook(
    @Args(() => RedeliveryArguments) asked: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<WebhookSent> {
    const held = requireHeld(context.principal, asked.agentId);
    const range = readRequest(RedeliveryRequest, asked, context);
    return { agentId: held.agent_id, messages: await redeliverMessages(context, held, range) };
  }

  @Mutation(() => WebhookPing, {
    nullable: true,
    description: 'Sends a test message, once. The webhook shows what came of it.',
  })
  async pingWebhook(
    @Args(() => BookArguments) { agentId }: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<WebhookPing> {
    const held = requireHeld(context.principal, agentId);
    return { agentId: held.agent_id, id: await ping(context, held) };
  }
}
