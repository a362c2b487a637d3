import { z } from 'zod';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { errors, isErrorCode } from '../../schema/errors.ts';
import { MessageTokensNoun } from '../../schema/inference/message-answer.ts';
import { limits } from '../../schema/limits.ts';
import { RefusalNoun } from '../../schema/refusal.ts';
import { anthropicHeaders } from '../../schema/requests/anthropic-headers.ts';
import { MessagesRequest, MessageTokensRequest } from '../../schema/requests/messages.ts';
import { documentDoor } from '../door.ts';
import { anthropicKind, MessageFault } from '../fault-form.ts';
import { type EventFrames, eventStream, sseEvent } from '../sse.ts';
import { eventOperation, IntentHeaders, paidWork, withIntent, workErrors } from './doors.ts';
import { MessageAnswer, MessageEventAnswer } from './message-answers.ts';

/* Anthropic's Messages API: the same work as a chat, in the form that Anthropic's clients use. */

/**
 * Events of a streamed message, each named by its type. The event with the receipt is named `svc`, which clients ignore, and has type `ping`,
 * because some clients reject an event of unknown type (https://github.com/vercel/ai/issues/11309).
 */
const messageFrames: EventFrames = {
  headers: eventStream,
  event(data) {
    const event = data as JsonObject;
    return `event: ${'svc' in event ? 'svc' : String(event.type)}\n${sseEvent(event)}`;
  },
  fault({ error, ...facts }) {
    const body_error = error as JsonObject;
    const status = isErrorCode(body_error.code) ? errors[body_error.code][0] : 500;
    return `event: error\n${sseEvent({ ...facts, type: 'error', error: { ...body_error, type: anthropicKind(status) } })}`;
  },
  done: '',
};

const example = { max_tokens: 1024, messages: [{ role: 'user', content: 'Hi' }] };

/** Anthropic's clients send it together with the header that names the betas. */
const BetaQuery = z.strictObject({
  beta: z
    .literal('true')
    .optional()
    .describe(
      "Only `true` is accepted, and it has no effect. Anthropic's clients send it together with `anthropic-beta`.",
    ),
});

const MessageHeaders = IntentHeaders.extend(anthropicHeaders);
const TokensHeaders = z.object({
  ...anthropicHeaders,
  'anthropic-beta': anthropicHeaders['anthropic-beta'].describe(
    'Accepted and not counted. A beta that is not served for messages is refused with 400.',
  ),
});

/** `betas` in the body takes precedence over the header, as with intents. */
function withHeaders(body: JsonObject, headers: z.output<typeof MessageHeaders>): JsonObject {
  return { ...withIntent(body, headers), betas: body.betas ?? headers['anthropic-beta'] ?? null };
}

export const messageDoors = [
  documentDoor({
    ...paidWork,
    name: 'create_message',
    path: '/v1/messages',
    summary: "Create a message in the form of Anthropic's Messages API, with a signed spend receipt",
    example,
    field: 'createMessage',
    stream: {
      isRequested: ({ stream = false }) => stream,
      document: eventOperation('create_message_stream', 'messageStream'),
      frames: messageFrames,
      eventOf: data => (data.answer as JsonObject).event ?? null,
    },
    query: BetaQuery,
    headers: MessageHeaders,
    complete: withHeaders,
    body: MessagesRequest,
    faults: 'anthropic',
    refusal: z.union([z.object({ ...MessageFault.shape, ...RefusalNoun.shape }), MessageFault]),
    response: MessageAnswer,
    event: MessageEventAnswer,
    errors: workErrors,
  }),
  documentDoor({
    name: 'count_message_tokens',
    methods: ['POST'],
    effect: 'reads',
    path: '/v1/messages/count_tokens',
    summary: 'Estimate the number of tokens of a message, without calling a model',
    tags: ['inference'],
    example: { messages: [{ role: 'user', content: 'Hi' }] },
    body_bytes_max: limits.request_bytes_max,
    field: 'messageTokens',
    query: BetaQuery,
    headers: TokensHeaders,
    body: MessageTokensRequest,
    faults: 'anthropic',
    response: MessageTokensNoun,
  }),
] as const;
