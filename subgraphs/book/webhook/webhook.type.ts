import { Directive, Field, InputType, Int, ObjectType } from 'type-graphql';
import { webhookLimits } from '../../../schema/limits.ts';
import { everyWebhookKind, usualWebhookKinds, type WebhookKind } from '../../../schema/webhook/kinds.ts';
import type { StandingWebhook } from './change.ts';
import { WebhookDeadLetter } from './dead-letter.entity.ts';
import { WebhookKindWord } from './webhook-words.ts';

const KINDS = `@listSize(assumedSize: ${everyWebhookKind.length})`;

@InputType({
  description: 'Where a book tells of its events. What is left out is as usual; a secret that stands stays.',
})
export class WebhookInput {
  @Field(() => String, { description: 'An https URL by the name of a public host.' }) url!: string;
  @Field(() => String, {
    nullable: true,
    description: 'That signs each message; made and shown once where none stands.',
  })
  secret?: string | null;
  @Field(() => [WebhookKindWord], {
    nullable: true,
    description: `${usualWebhookKinds.join(', ')} where it is left out.`,
  })
  events?: WebhookKind[] | null;
  @Field(() => Boolean, { nullable: true, description: 'false: nothing is sent; true where it is left out.' })
  enabled?: boolean | null;
  @Field(() => String, {
    nullable: true,
    description:
      'Signature of the agentWallet, required if `approval` was not sent to this URL before, over `svc.webhook.approval|<base URL of this service>|<agent_id>|<url>|<unix_seconds>`.',
  })
  walletSignature?: string | null;
  @Field(() => Int, { nullable: true, description: 'The Unix seconds in the signed text: now.' })
  signatureTimestamp?: number | null;
}

@ObjectType('Webhook', { description: 'Where a book tells of its events, without the secret and the whole URL.' })
export class ShownWebhook {
  @Field(() => Boolean, { description: 'Whether anything is sent; a receiver that answers 410 ends it.' })
  enabled!: boolean;
  @Field(() => String, { description: 'The host of the URL, and its port where that is not the usual one.' })
  urlHost!: string;
  @Field(() => String, { description: 'Path and query of the URL.' }) urlPath!: string;
  @Directive(KINDS)
  @Field(() => [WebhookKindWord], { description: 'Of what it is told.' })
  events!: readonly WebhookKind[];
  @Field(() => Boolean, { description: 'Whether messages are signed: they always are.' }) hasSecret!: boolean;
  @Field(() => Int, { description: 'Messages that were taken.' }) deliveries!: number;
  @Field(() => Int, { description: 'Attempts that failed.' }) failures!: number;
  @Field(() => Int, { nullable: true, description: 'Status of the last answer; null where the last attempt had none.' })
  lastStatus!: number | null;
  @Field(() => String, { nullable: true, description: 'Why the last attempt failed; null where it did not.' })
  lastError!: string | null;
}

@ObjectType({ description: 'The webhook of a book, and what one may be told of.' })
export class BookWebhook {
  @Field(() => Int, { description: 'Whose book.' }) agentId!: number;
  @Field(() => ShownWebhook, { nullable: true, description: 'null where none is set.' })
  webhook!: ShownWebhook | null;
  @Directive(KINDS)
  @Field(() => [WebhookKindWord], { description: 'What a webhook is told of unless it asks otherwise.' })
  supportedEvents!: readonly WebhookKind[];
  @Field(() => String, {
    nullable: true,
    description: 'The secret, where it was made here just now. It is shown here and never again.',
  })
  secretOnce!: string | null;
}

export function shownWebhook(
  agentId: number,
  standing: StandingWebhook | null,
  secretOnce: string | null = null,
): BookWebhook {
  return { agentId, webhook: standing && shown(standing), supportedEvents: usualWebhookKinds, secretOnce };
}

function shown({ webhook, secrets, enabled, events }: StandingWebhook): ShownWebhook {
  const { host, pathname, search } = new URL(secrets.url);
  const { deliveries, failures, lastStatus, lastError } = webhook;
  const place = { urlHost: host, urlPath: pathname + search };
  return { enabled, ...place, events, hasSecret: true, deliveries, failures, lastStatus, lastError };
}

@ObjectType({ description: 'A page of messages that were given up, the newest event first.' })
export class WebhookDeadLetters {
  @Field(() => Int, { description: 'Whose book.' }) agentId!: number;
  @Field(() => [WebhookDeadLetter], {
    description: `The newest ${webhookLimits.dead_letters_max} of ${webhookLimits.dead_letter_days} days are kept.`,
  })
  deadLetters!: readonly WebhookDeadLetter[];
  @Field(() => String, { nullable: true, description: '`before` of the next page; null where this is the last.' })
  next!: string | null;
}

@ObjectType({ description: 'What is on its way now.' })
export class WebhookSent {
  @Field(() => Int, { description: 'Whose book.' }) agentId!: number;
  @Field(() => Int, { description: 'How many messages.' }) messages!: number;
}

@ObjectType({ description: 'A test message that is on its way now.' })
export class WebhookPing {
  @Field(() => Int, { description: 'Whose book.' }) agentId!: number;
  @Field(() => String, { description: 'Its id: header webhook-id.' }) id!: string;
}
