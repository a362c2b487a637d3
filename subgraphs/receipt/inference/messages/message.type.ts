import type { JsonObject } from '../../../../schema/canonical-json.ts';
import {
  MessageStreamEventNoun,
  MessageTokensNoun,
  MessageUsageNoun,
  ModelMessageNoun,
} from '../../../../schema/inference/message-answer.ts';
import { MessagesRequest, MessageTokensRequest } from '../../../../schema/requests/messages.ts';
import { inputType, objectType, shownOf } from '../../../graph-type.ts';
import { paidAnswerType } from '../work.type.ts';
import { blocksUsage, stopDetailsOf } from './content.ts';
import type { KeptMessage } from './message.paid.ts';

/* Graph types of the Messages API: requests, answers and events. */

export const MessageInput = inputType(
  'MessageInput',
  'Request of the Messages API. The limits are those of POST /v1/messages.',
  MessagesRequest,
);
export const MessageTokensInput = inputType(
  'MessageTokensInput',
  'Request of the Messages API, without the maximum of tokens, the stop sequences and the sampling.',
  MessageTokensRequest,
);

export const MessageTokens = objectType(
  'MessageTokens',
  'Number of tokens of a request, estimated without asking a model.',
  MessageTokensNoun,
);
export type MessageTokens = InstanceType<typeof MessageTokens>;

objectType('MessageUsage', 'Numbers of tokens, as the hub stated them.', MessageUsageNoun);

export const ModelMessage = paidAnswerType(
  'ModelMessage',
  'A paid answer in the blocks of the Messages API, with its receipt.',
  ModelMessageNoun,
);
export type ModelMessage = InstanceType<typeof ModelMessage>;

/** The stored answer with the member names of the graph, without its receipt. */
export function messageFields(answer: KeptMessage, svc: JsonObject): Omit<ModelMessage, 'receipt'> {
  const { stop_reason, usage } = answer;
  return shownOf(ModelMessageNoun, {
    ...answer,
    type: 'message',
    role: 'assistant',
    stop_reason: stop_reason ?? 'end_turn',
    stop_details: stopDetailsOf(stop_reason),
    usage: blocksUsage(usage),
    svc,
  });
}

export const MessageStreamEvent = objectType(
  'MessageStreamEvent',
  'One event of a streamed answer of the Messages API: its type, and the whole event as JSON.',
  MessageStreamEventNoun,
);
export type MessageStreamEvent = InstanceType<typeof MessageStreamEvent>;
