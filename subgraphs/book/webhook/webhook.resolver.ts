import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { BookPath } from '../../../schema/requests/book-path.ts';
import { RotationRequest, WebhookRequest } from '../../../schema/requests/webhook.ts';
import { requireHeld, requirePossession, requireSession } from '../../access.ts';
import { type Arguments, type ArgumentsOfBook, argumentsType, readRequest } from '../../graph-type.ts';
import type { BookContext } from '../context.ts';
import { readWebhook } from './change.ts';
import { removeWebhook, rotateSecret, type SetWebhook, setWebhook } from './set.ts';
import { BookWebhook, shownWebhook, WebhookInput } from './webhook.type.ts';

const BookArguments = argumentsType(BookPath);
const RotationArguments = argumentsType(BookPath, RotationRequest);

@Resolver(() => BookWebhook)
export class WebhookResolver {
  @Query(() => BookWebhook, {
    nullable: true,
    description:
      'The webhook of a book, without its secret; of the URL, host, path and query are shown. Requires possession of the book. Null if there is an error.',
  })
  async webhook(
    @Args(() => BookArguments) { agentId }: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<BookWebhook> {
    const agent_id = requirePossession(context.principal, agentId);
    return shownWebhook(agent_id, await readWebhook(context, agent_id));
  }

  @Mutation(() => BookWebhook, {
    nullable: true,
    description:
      'Sets the webhook of a book. Replaces the URL and the kinds of events. Requires the session itself (`X-SVC-Session`), not a proof, because the content of the book is sent there. Null if there is an error.',
  })
  async setWebhook(
    @Arg('input', () => WebhookInput, { description: 'The URL, the kinds of events and the secret.' }) input: Arguments,
    @Args(() => BookArguments) { agentId }: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<BookWebhook> {
    const held = { ...requireSession(context.principal, agentId), by: 'session' } as const;
    return changedWebhook(agentId, await setWebhook(context, held, readRequest(WebhookRequest, input, context)));
  }

  @Mutation(() => BookWebhook, {
    nullable: true,
    description:
      'Replaces the secret of the webhook. For one day messages are signed with the previous secret too. Requires the session itself (`X-SVC-Session`), not a proof. Null if there is an error.',
  })
  async rotateWebhookSecret(
    @Args(() => RotationArguments) args: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<BookWebhook> {
    const { agentId } = args;
    const held = { ...requireSession(context.principal, agentId), by: 'session' } as const;
    const { secret } = readRequest(RotationRequest, args, context);
    return changedWebhook(agentId, await rotateSecret(context, held, secret));
  }

  @Mutation(() => BookWebhook, {
    nullable: true,
    description:
      'Removes the webhook of a book. Nothing more is sent, and the dead letters are deleted. Repeating the request changes nothing. Requires possession of the book. Null if there is an error.',
  })
  async removeWebhook(
    @Args(() => BookArguments) { agentId }: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<BookWebhook> {
    const held = requireHeld(context.principal, agentId);
    await removeWebhook(context, held);
    return shownWebhook(held.agent_id, null);
  }
}

function changedWebhook(agentId: number, { standing, secret_once }: SetWebhook): BookWebhook {
  return shownWebhook(agentId, standing, secret_once);
}
