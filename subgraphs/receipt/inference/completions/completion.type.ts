import type { JsonObject } from '../../../../schema/canonical-json.ts';
import {
  ChatChoiceNoun,
  ChatChunkChoiceNoun,
  ChatCompletionChunkNoun,
  ChatCompletionNoun,
  ChatDeltaNoun,
  ChatFunctionCallNoun,
  ChatFunctionDeltaNoun,
  ChatMessageNoun,
  ChatToolCallDeltaNoun,
  ChatToolCallNoun,
  ChatUsageNoun,
} from '../../../../schema/inference/chat-answer.ts';
import type { Reasoning } from '../../../../schema/reasoning.ts';
import { ChatRequest, ChatStreamOptions } from '../../../../schema/requests/chat-completion.ts';
import { RequestMessageNoun } from '../../../../schema/requests/chat-message.ts';
import { inputType, objectType, shownOf } from '../../../graph-type.ts';
import { paidAnswerType } from '../work.type.ts';
import type { KeptChat } from './completion.paid.ts';

/* Graph types of chats: requests, answers and chunks. */

inputType(
  'ChatMessageInput',
  'A message of the history that the model reads: its role and its content.',
  RequestMessageNoun,
);

inputType(
  'ChatStreamOptionsInput',
  'Options of the stream of a chat: whether the numbers of tokens have an event of their own.',
  ChatStreamOptions,
);
export const ChatCompletionInput = inputType(
  'ChatCompletionInput',
  'Chat request. The limits are those of POST /v1/chat/completions.',
  ChatRequest,
);

objectType('ChatFunctionCall', 'The function that the model calls, and its arguments.', ChatFunctionCallNoun);
objectType('ChatToolCall', 'A call of a tool that the model asks the client to make.', ChatToolCallNoun);

objectType('ChatMessage', 'Answer of the model as a message.', ChatMessageNoun);
objectType('ChatChoice', 'One answer of a chat. A chat has exactly one.', ChatChoiceNoun);

const ChatUsage = objectType('ChatUsage', 'Numbers of tokens, as the hub counts them.', ChatUsageNoun);
type ChatUsage = InstanceType<typeof ChatUsage>;

export const ChatCompletion = paidAnswerType(
  'ChatCompletion',
  'A paid answer in the form of the Chat Completions API, with its receipt.',
  ChatCompletionNoun,
);
export type ChatCompletion = InstanceType<typeof ChatCompletion>;

/** The stored answer with the member names of the graph, without its receipt. */
export function completionFields(answer: KeptChat, svc: JsonObject): Omit<ChatCompletion, 'receipt'> {
  return {
    ...shownOf(ChatCompletionNoun, { ...answer, object: 'chat.completion', svc }),
    usage: usageOf(answer.usage),
  };
}

/** Reasoning with the member names of the graph. */
export function reasoningFields({ reasoning_content, reasoning, reasoning_details }: Reasoning) {
  return {
    reasoningContent: reasoning_content ?? null,
    reasoning: reasoning ?? null,
    reasoningDetails: reasoning_details ?? null,
  };
}

export function usageOf(usage: KeptChat['usage']): ChatUsage | null {
  if (usage === null) return null;
  const { prompt_tokens, completion_tokens, total_tokens, ...details } = usage;
  return {
    promptTokens: prompt_tokens,
    completionTokens: completion_tokens,
    totalTokens: total_tokens,
    details: Object.keys(details).length === 0 ? null : details,
  };
}

objectType('ChatFunctionDelta', 'What a chunk adds to the name and the arguments of a call.', ChatFunctionDeltaNoun);
objectType(
  'ChatToolCallDelta',
  'What a chunk adds to a call. Id, type and name are only in the first chunk of the call.',
  ChatToolCallDeltaNoun,
);
export const ChatDelta = objectType('ChatDelta', 'What a chunk adds to a message.', ChatDeltaNoun);
export type ChatDelta = InstanceType<typeof ChatDelta>;
export const ChatChunkChoice = objectType(
  'ChatChunkChoice',
  'One answer of a chat, as far as a chunk adds to it. A chat has exactly one.',
  ChatChunkChoiceNoun,
);
export type ChatChunkChoice = InstanceType<typeof ChatChunkChoice>;

export const ChatCompletionChunk = objectType(
  'ChatCompletionChunk',
  'A chunk of a paid answer. The last chunk carries the receipt.',
  ChatCompletionChunkNoun,
);
export type ChatCompletionChunk = InstanceType<typeof ChatCompletionChunk>;
