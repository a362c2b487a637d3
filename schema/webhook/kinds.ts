import { type BookEventKind, givenUpAmount } from '../book/event.ts';
import type { JsonObject } from '../canonical-json.ts';
import type { Evidence } from '../evidence.ts';
import { escrowLimits } from '../limits.ts';
import type { Words } from '../words.ts';

/* Kinds of webhook messages, and the events that they report. */

/** The members of an event that decide its kinds. */
export interface WebhookEvent {
  readonly kind: BookEventKind;
  readonly body: JsonObject;
}

interface WebhookKindRow {
  /** True for kinds that a webhook has by default and `supported_events` lists. Others are opt-in by name. */
  readonly usual: boolean;
  readonly description: string;
  readonly matches: (event: WebhookEvent) => boolean;
}

const bornOf =
  (...evidences: readonly Evidence[]) =>
  ({ kind, body }: WebhookEvent) =>
    kind === 'born' && evidences.some(evidence => body.evidence === evidence);

const table = {
  settle: {
    usual: true,
    description: 'A row was recorded at settlement. A call with an API key settles nothing and sends none.',
    matches: bornOf('collected', 'RECORDED_BY_SETTLE'),
  },
  inflow: {
    usual: true,
    description: 'An inflow or a correction of one was recorded.',
    matches: bornOf('inflow_claimed'),
  },
  policy_blocked: {
    usual: true,
    description: 'A policy or the budget of the book refused a call. Nothing was charged.',
    matches: bornOf('policy_blocked'),
  },
  collected: {
    usual: true,
    description: 'The payment of a row was collected, at once or later.',
    matches: ({ kind, body }) => (kind === 'born' || kind === 'transition') && body.collected === true,
  },
  alert: {
    usual: false,
    description: 'The book recorded an alert, such as a reached percentage of a cap or of the budget.',
    matches: ({ kind }) => kind === 'alert',
  },
  approval: {
    usual: false,
    description: 'A refused call can be approved with the link in the message, or an approval request was answered.',
    matches: ({ kind }) => kind === 'approval',
  },
  given_up: {
    usual: false,
    description:
      'The amount of a row was removed because its transfer was not found. `event.body.born.amount` is the removed amount, in atomic units of the rail of the row.',
    matches: ({ kind, body }) => kind === 'transition' && givenUpAmount(body) !== null,
  },
  bid: {
    usual: false,
    description: 'Another agent bid on a job that the agent of this book has posted, or revised its bid.',
    matches: ({ kind }) => kind === 'bid',
  },
  escrow_offer: {
    usual: false,
    description: `Another agent opened an escrow with the agent of this book; up to ${escrowLimits.offers_sent_per_book_hour_max} of these are sent an hour.`,
    matches: ({ kind }) => kind === 'escrow_offer',
  },
} as const satisfies Record<string, WebhookKindRow>;

export type WebhookKind = keyof typeof table;
export const webhookKinds: Readonly<Record<WebhookKind, WebhookKindRow>> = table;
export const webhookKindWords = {
  graph: 'WebhookKind',
  description: 'Kind of event that a webhook sends.',
  meanings: Object.fromEntries(
    Object.entries<WebhookKindRow>(table).map(([kind, { description }]) => [kind, description]),
  ),
} as Words<WebhookKind>;
export const everyWebhookKind = Object.keys(webhookKinds) as readonly WebhookKind[];
export const usualWebhookKinds = everyWebhookKind.filter(kind => webhookKinds[kind].usual);

/** Kinds of book events that can be sent to a webhook. */
export const webhookEventKinds = [
  'born',
  'transition',
  'alert',
  'approval',
  'bid',
  'escrow_offer',
] as const satisfies readonly BookEventKind[];

/** Webhook kinds of an event, in the order of the table. */
export function webhookKindsOf(event: WebhookEvent, wanted: readonly WebhookKind[]): readonly WebhookKind[] {
  return everyWebhookKind.filter(kind => wanted.includes(kind) && webhookKinds[kind].matches(event));
}

/** Message numbers of one event, by kind. They are part of its body and so of its hash. */
export type MessageNumbers = Partial<Readonly<Record<WebhookKind, number>>>;

/** Reads `messages` of the body of an event. Absent if no webhook wanted the event when it happened. */
export function messageNumbers({ messages }: JsonObject): MessageNumbers {
  return (messages ?? {}) as MessageNumbers;
}

/** Messages of an event with a number above this one, in order. */
export function messagesAfter(body: JsonObject, number: number): readonly (readonly [WebhookKind, number])[] {
  const numbered = Object.entries(messageNumbers(body)) as [WebhookKind, number][];
  return numbered.filter(([, it]) => it > number).sort(([, one], [, other]) => one - other);
}
