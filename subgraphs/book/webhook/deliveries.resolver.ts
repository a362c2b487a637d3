import { Arg, Ctx, Directive, Int, Mutation, Query, Resolver } from 'type-graphql';
import { webhookLimits } from '../../../schema/limits.ts';
import { parseRequest } from '../../../schema/requests/parse.ts';
import { RedeliveryMembers } from '../../../schema/requests/webhook.ts';
import { requireHeld, requirePossession } from '../../access.ts';
import { pageByLimit } from '../../page-cost.ts';
import type { BookContext } from '../context.ts';
import { deadLetters } from './dead-letters.ts';
import { ping, redeliverMessages } from './redeliver.ts';
import { WebhookDeadLetters, WebhookPing, WebhookSent } from './webhook.type.ts';

const { dead_letters_page_default, dead_letters_page_max } = webhookLimits;

@Resolver(() => WebhookDeadLetters)
export class WebhookDeliveriesResolver {
  @Directive(pageByLimit(dead_letters_page_default, 'deadLetters'))
  @Query(() => WebhookDeadLetters, {
    nullable: true,
    description: 'Messages of the webhook that were given up, for whoever possesses the book.',
  })
  async webhookDeadLetters(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Arg('limit', () => Int, {
      nullable: true,
      description: `1 to ${dead_letters_page_max}, ${dead_letters_page_default} where it is left out; more is clamped.`,
    })
    limit: number | null,
    @Arg('before', () => String, { nullable: true, description: '`next` of the page before.' })
    before: string | null,
    @Ctx() { principal, database }: BookContext,
  ): Promise<WebhookDeadLetters> {
    const agent_id = requirePossession(principal, agentId);
    return { agentId: agent_id, ...(await deadLetters(database, agent_id, { limit, before })) };
  }

  @Mutation(() => WebhookSent, {
    nullable: true,
    description: 'Sends again what the webhook is told of within a range of positions.',
  })
  async redeliverWebhook(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Arg('fromPosition', () => Int, { description: 'The first position.' }) fromPosition: number,
    @Arg('toPosition', () => Int, { description: 'The last, too.' }) toPosition: number,
    @Ctx() context: BookContext,
  ): Promise<WebhookSent> {
    const held = requireHeld(context.principal, agentId);
    const range = parseRequest(RedeliveryMembers, { from_position: fromPosition, to_position: toPosition });
    return { agentId: held.agent_id, messages: await redeliverMessages(context, held, range) };
  }

  @Mutation(() => WebhookPing, {
    nullable: true,
    description: 'Sends a test message, once: how it fared is shown by the webhook.',
  })
  async pingWebhook(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Ctx() context: BookContext,
  ): Promise<WebhookPing> {
    const held = requireHeld(context.principal, agentId);
    return { agentId: held.agent_id, id: await ping(context, held) };
  }
}
