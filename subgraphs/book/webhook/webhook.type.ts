import { Field, InputType, Int, ObjectType } from 'type-graphql';
import { webhookLimits } from '../../../schema/limits.ts';
import type { MembersOf } from '../../../schema/noun.ts';
import { usualWebhookKinds, type WebhookKind } from '../../../schema/webhook/kinds.ts';
import { SetWebhookNoun, WebhookNoun, WebhookPingNoun, WebhookSentNoun } from '../../../schema/webhook/webhook.ts';
import { showMembers } from '../../graph-type.ts';
import type { StandingWebhook } from './change.ts';
import { WebhookDeadLetter } from './dead-letter.entity.ts';
import { WebhookKindWord } from './webhook-words.ts';

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

const Webhook = class {} as new () => MembersOf<typeof WebhookNoun>;
const SetWebhook = class {} as new () => MembersOf<typeof SetWebhookNoun>;
const Sent = class {} as new () => MembersOf<typeof WebhookSentNoun>;
const Ping = class {} as new () => MembersOf<typeof WebhookPingNoun>;

@ObjectType('Webhook', { description: 'Where a book tells of its events, without the secret and the whole URL.' })
export class ShownWebhook extends Webhook {}

@ObjectType({ description: 'The webhook of a book, and what one may be told of.' })
export class BookWebhook extends SetWebhook {}

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
export class WebhookSent extends Sent {}

@ObjectType({ description: 'A test message that is on its way now.' })
export class WebhookPing extends Ping {}

showMembers(ShownWebhook, WebhookNoun, { events: WebhookKindWord });
showMembers(BookWebhook, SetWebhookNoun, { webhook: ShownWebhook, supported_events: WebhookKindWord });
showMembers(WebhookSent, WebhookSentNoun);
showMembers(WebhookPing, WebhookPingNoun);
