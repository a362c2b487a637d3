import { GraphQLJSON, GraphQLJSONObject } from 'graphql-scalars';
import { Field, Float, InputType } from 'type-graphql';
import type { Json, JsonObject } from '../../../../schema/canonical-json.ts';
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
import { ChatRequest, StreamOptions } from '../../../../schema/requests/chat-completion.ts';
import { RequestMessageNoun } from '../../../../schema/requests/chat-message.ts';
import { FORWARDED_MEMBERS } from '../../../../schema/requests/forwarded/extra.ts';
import { inputType, objectType, shownOf } from '../../../graph-type.ts';
import { paidAnswerType, WorkInput } from '../work.type.ts';
import type { KeptChat } from './completion.paid.ts';

export const ChatMessageInput = inputType('ChatMessageInput', 'One message of a chat.', RequestMessageNoun);

/** What may be asked of a model's text beside its messages; chats and responses alike. JSON is as a chat of OpenAI's spells it. */
@InputType()
export abstract class TextInput extends WorkInput {
  @Field(() => Float, { nullable: true, description: '0 to 2: how far the model may stray from the likeliest.' })
  temperature?: number | null;
  @Field(() => Float, {
    nullable: true,
    description: 'Nucleus sampling: cumulative probability of the tokens considered, 0 to 1.',
  })
  topP?: number | null;
  @Field(() => [GraphQLJSONObject], { nullable: true, description: '`{type: "function", function: {name, …}}` each.' })
  tools?: JsonObject[] | null;
  @Field(() => GraphQLJSON, { nullable: true, description: '`none`, `auto`, `required`, or an object that names one.' })
  toolChoice?: Json;
  @Field(() => Boolean, { nullable: true, description: 'Whether it may call several tools at once.' })
  parallelToolCalls?: boolean | null;
  @Field(() => GraphQLJSONObject, { nullable: true, description: '`{type: "json_schema", json_schema: {…}}`.' })
  responseFormat?: JsonObject | null;
  @Field(() => String, {
    nullable: true,
    description: 'Passed on to a model that its hub lists as one that reasons. Without effect for any other model.',
  })
  reasoningEffort?: string | null;
  @Field(() => GraphQLJSONObject, {
    nullable: true,
    description: FORWARDED_MEMBERS,
  })
  extra?: JsonObject | null;
}

inputType('ChatStreamOptionsInput', 'Options of chatCompletionStream.', StreamOptions);
export const ChatCompletionInput = inputType(
  'ChatCompletionInput',
  'A chat request; the limits are those of POST /v1/chat/completions.',
  ChatRequest,
);

objectType('ChatFunctionCall', 'A function that the model calls, with its arguments.', ChatFunctionCallNoun);
objectType('ChatToolCall', 'A tool that the model calls.', ChatToolCallNoun);

objectType('ChatMessage', 'What the model answered.', ChatMessageNoun);
objectType('ChatChoice', 'One answer; there is one.', ChatChoiceNoun);

const ChatUsage = objectType('ChatUsage', 'Numbers of tokens, as the hub counts them.', ChatUsageNoun);
type ChatUsage = InstanceType<typeof ChatUsage>;

export const ChatCompletion = paidAnswerType('ChatCompletion', 'A paid answer with its receipt.', ChatCompletionNoun);
export type ChatCompletion = InstanceType<typeof ChatCompletion>;

/** The kept answer in the graph's words, without its receipt. */
export function completionFields(answer: KeptChat): Omit<ChatCompletion, 'svc' | 'receipt'> {
  return {
    ...shownOf(ChatCompletionNoun, answer),
    object: 'chat.completion',
    usage: usageOf(answer.usage),
  };
}

/** Reasoning in the graph's words. */
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
  'What a chunk adds to a call; id, type and name stand in the first one alone.',
  ChatToolCallDeltaNoun,
);
export const ChatDelta = objectType('ChatDelta', 'What a chunk adds to a message.', ChatDeltaNoun);
export type ChatDelta = InstanceType<typeof ChatDelta>;
export const ChatChunkChoice = objectType(
  'ChatChunkChoice',
  'A piece of one answer; there is one.',
  ChatChunkChoiceNoun,
);
export type ChatChunkChoice = InstanceType<typeof ChatChunkChoice>;

export const ChatCompletionChunk = objectType(
  'ChatCompletionChunk',
  'A piece of a paid answer; the last one brings the receipt.',
  ChatCompletionChunkNoun,
);
export type ChatCompletionChunk = InstanceType<typeof ChatCompletionChunk>;
