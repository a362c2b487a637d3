import { Args, Ctx, Directive, Mutation, Query, Resolver } from 'type-graphql';
import type { AgentId } from '../../../schema/ids.ts';
import { webhookLimits } from '../../../schema/limits.ts';
import { BookPath } from '../../../schema/requests/book-path.ts';
import { DeadLetterPage, RedeliveryRequest } from '../../../schema/requests/webhook.ts';
import { requireHeld, requirePossession } from '../../access.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database } from '../../database.ts';
import { type ArgumentsOfBook, argumentsType, readRequest } from '../../graph-type.ts';
import { pageByLimit } from '../../page-cost.ts';
import type { BookContext } from '../context.ts';
import { WebhookDeadLetter } from './dead-letter.entity.ts';
import { ping, redeliverMessages } from './redeliver.ts';
import { WebhookDeadLetters, WebhookPing, WebhookSent } from './webhook.type.ts';

interface DeadLettersPage {
  readonly deadLetters: readonly WebhookDeadLetter[];
  readonly next: string | null;
}

const { dead_letters_page_max, dead_letters_page_default } = webhookLimits;

/** A page of dead letters, newest event first. `before` is the `next` of the previous page. */
async function deadLetters(database: Database, agent_id: AgentId, page: DeadLetterPage): Promise<DeadLettersPage> {
  const limit = Math.min(page.limit ?? dead_letters_page_default, dead_letters_page_max);
  const [position = null, kind = null] = page.before?.split('.') ?? [];
  const rows = await database.query({
    name: 'webhook dead letters',
    text: `select ${selectList(WebhookDeadLetter)} from webhook_dead_letter
      where agent_id = $1 and ($2::int8 is null or (position, kind) < ($2::int8, $3))
        and given_up_at > now() - make_interval(days => ${webhookLimits.dead_letter_days})
      order by position desc, kind desc limit $4`,
    values: [agent_id, position, kind, limit + 1],
  });
  const found = rows.slice(0, limit).map(row => asEntity(WebhookDeadLetter, row));
  const last = found.at(-1);
  return { deadLetters: found, next: last && rows.length > limit ? `${last.position}.${last.kind}` : null };
}

const BookArguments = argumentsType(BookPath);
const PageArguments = argumentsType(BookPath, DeadLetterPage);
const RedeliveryArguments = argumentsType(BookPath, RedeliveryRequest);

@Resolver(() => WebhookDeadLetters)
export class WebhookDeliveriesResolver {
  @Directive(pageByLimit(webhookLimits.dead_letters_page_default, 'deadLetters'))
  @Query(() => WebhookDeadLetters, {
    nullable: true,
    description: `Messages of the webhook that could not be delivered, given up in the last ${webhookLimits.dead_letter_days} days. Requires possession of the book. Null if there is an error.`,
  })
  async webhookDeadLetters(
    @Args(() => PageArguments) args: ArgumentsOfBook,
    @Ctx() { principal, database }: BookContext,
  ): Promise<WebhookDeadLetters> {
    const agent_id = requirePossession(principal, args.agentId);
    return { agentId: agent_id, ...(await deadLetters(database, agent_id, readRequest(DeadLetterPage, args))) };
  }

  @Mutation(() => WebhookSent, {
    nullable: true,
    description:
      'Sends the webhook messages of a range of event positions again. Requires possession of the book. Null if there is an error.',
  })
  async redeliverWebhook(
    @Args(() => RedeliveryArguments) args: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<WebhookSent> {
    const held = requireHeld(context.principal, args.agentId);
    const range = readRequest(RedeliveryRequest, args, context);
    return { agentId: held.agent_id, messages: await redeliverMessages(context, held, range) };
  }

  @Mutation(() => WebhookPing, {
    nullable: true,
    description:
      'Sends one test message, without retries. `lastStatus` and `lastError` of the webhook show the result. Requires possession of the book. Null if there is an error.',
  })
  async pingWebhook(
    @Args(() => BookArguments) { agentId }: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<WebhookPing> {
    const held = requireHeld(context.principal, agentId);
    return { agentId: held.agent_id, id: await ping(context, held) };
  }
}
