import { Arg, Ctx, Int, Mutation, Query, Resolver } from 'type-graphql';
import { toSnakeKeys, withoutNull } from '../../../schema/camel.ts';
import { parseRequest } from '../../../schema/requests/parse.ts';
import { RotationMembers, WebhookMembers } from '../../../schema/requests/webhook.ts';
import { requireHeld, requirePossession, requireSession } from '../../access.ts';
import type { BookContext } from '../context.ts';
import { readWebhook } from './change.ts';
import { removeWebhook, rotateSecret, type SetWebhook, setWebhook } from './set.ts';
import { BookWebhook, shownWebhook, WebhookInput } from './webhook.type.ts';

@Resolver(() => BookWebhook)
export class WebhookResolver {
  @Query(() => BookWebhook, {
    nullable: true,
    description: 'The webhook of a book, for whoever possesses it. It shows neither the secret nor the whole URL.',
  })
  async webhook(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Ctx() context: BookContext,
  ): Promise<BookWebhook> {
    const agent_id = requirePossession(context.principal, agentId);
    return shownWebhook(agent_id, await readWebhook(context, agent_id));
  }

  @Mutation(() => BookWebhook, {
    nullable: true,
    description:
      "Sets where a book tells of its events, as a whole. It says where what a book holds goes to, so that the book's session itself is wanted.",
  })
  async setWebhook(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Arg('input', () => WebhookInput, { description: 'Where to, of what, and by which secret.' }) input: WebhookInput,
    @Ctx() context: BookContext,
  ): Promise<BookWebhook> {
    const held = { ...requireSession(context.principal, agentId), by: 'session' } as const;
    const members = parseRequest(WebhookMembers, toSnakeKeys(withoutNull({ ...input })));
    return told(agentId, await setWebhook(context, held, members));
  }

  @Mutation(() => BookWebhook, {
    nullable: true,
    description: 'Gives it another secret, with the one before it beside it for a day. The session itself is wanted.',
  })
  async rotateWebhookSecret(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Arg('secret', () => String, { nullable: true, description: 'Made and shown once where it is left out.' })
    secret: string | null | undefined,
    @Ctx() context: BookContext,
  ): Promise<BookWebhook> {
    const held = { ...requireSession(context.principal, agentId), by: 'session' } as const;
    const members = parseRequest(RotationMembers, withoutNull({ secret }));
    return told(agentId, await rotateSecret(context, held, members.secret));
  }

  @Mutation(() => BookWebhook, {
    nullable: true,
    description:
      'Nothing is sent any more, whatever is under way, and what was given up is gone. Again it is the same.',
  })
  async removeWebhook(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Ctx() context: BookContext,
  ): Promise<BookWebhook> {
    const held = requireHeld(context.principal, agentId);
    await removeWebhook(context, held);
    return shownWebhook(held.agent_id, null);
  }
}

function told(agentId: number, { standing, secret_once }: SetWebhook): BookWebhook {
  return shownWebhook(agentId, standing, secret_once);
}
