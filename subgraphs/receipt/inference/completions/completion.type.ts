import { GraphQLJSON, GraphQLJSONObject, GraphQLSafeInt } from 'graphql-scalars';
import { Directive, Field, Float, InputType, Int, ObjectType } from 'type-graphql';
import type { Json, JsonObject } from '../../../../schema/canonical-json.ts';
import {
  ChatChoiceNoun,
  ChatChunkChoiceNoun,
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
import { FORWARDED_MEMBERS } from '../../../../schema/requests/forwarded/extra.ts';
import { objectType, shownOf } from '../../../graph-type.ts';
import { paidAnswerType, WorkInput } from '../work.type.ts';
import type { KeptChat } from './completion.paid.ts';

@InputType({ description: 'One message of a chat.' })
export class ChatMessageInput {
  @Field(() => String, { description: '`system`, `developer`, `user`, `assistant` or `tool`.' }) role!: string;
  @Field(() => String, { nullable: true, description: 'Its text.' }) content?: string | null;
  @Field(() => [GraphQLJSONObject], {
    nullable: true,
    description: 'Instead of `content`: texts, images, sounds and files, as OpenAI spells the parts of a message.',
  })
  parts?: JsonObject[] | null;
  @Field(() => [GraphQLJSONObject], { nullable: true, description: 'Of role `assistant`, as an answer brought them.' })
  toolCalls?: JsonObject[] | null;
  @Field(() => String, {
    nullable: true,
    description: 'Of role `tool`: the id of the call that this is the result of.',
  })
  toolCallId?: string | null;
  @Field(() => String, { nullable: true, description: 'Of role `assistant`.' }) refusal?: string | null;
  @Field(() => String, { nullable: true, description: 'Tells speakers of one role apart.' }) name?: string | null;
  @Field(() => String, { nullable: true, description: 'Of role `assistant`: the thoughts that its answer brought.' })
  reasoningContent?: string | null;
  @Field(() => String, { nullable: true, description: 'The same by the name that other hubs have for it.' })
  reasoning?: string | null;
  @Field(() => [GraphQLJSONObject], { nullable: true, description: 'The same in parts, as the answer brought them.' })
  reasoningDetails?: JsonObject[] | null;
  @Field(() => GraphQLJSONObject, {
    nullable: true,
    description: FORWARDED_MEMBERS,
  })
  extra?: JsonObject | null;
}

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

@InputType({ description: 'Read by chatCompletionStream.' })
export class ChatStreamOptionsInput {
  @Field(() => Boolean, { nullable: true, description: 'The last chunk says how many tokens were used.' })
  includeUsage?: boolean | null;
}

@InputType({ description: 'A chat request; the limits are those of POST /v1/chat/completions.' })
export class ChatCompletionInput extends TextInput {
  @Field(() => [ChatMessageInput], { description: 'The chat so far, oldest first.' })
  messages!: ChatMessageInput[];
  @Field(() => Int, { nullable: true, description: 'Tokens of the answer at the most.' })
  maxTokens?: number | null;
  @Field(() => [String], { nullable: true, description: 'Up to four texts before which the answer ends.' }) stop?:
    | string[]
    | null;
  @Field(() => GraphQLSafeInt, { nullable: true, description: 'For answers that are alike, where the hub can.' }) seed?:
    | number
    | null;
  @Field(() => Float, { nullable: true, description: '-2 to 2: against what was said at all.' }) presencePenalty?:
    | number
    | null;
  @Field(() => Float, { nullable: true, description: '-2 to 2: against what was said often.' }) frequencyPenalty?:
    | number
    | null;
  @Field(() => Boolean, { defaultValue: false, description: 'True for chatCompletionStream alone.' })
  stream!: boolean;
  @Field(() => ChatStreamOptionsInput, { nullable: true, description: 'Of a stream.' })
  streamOptions?: ChatStreamOptionsInput | null;
}

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

@ObjectType({ description: 'A piece of a paid answer; the last one brings the receipt.' })
export class ChatCompletionChunk {
  @Field(() => String, { description: '`chatcmpl-` followed by the task id; the same in every chunk.' }) id!: string;
  @Field(() => String, { description: 'Always `chat.completion.chunk`.' }) object!: 'chat.completion.chunk';
  @Field(() => GraphQLSafeInt, { description: 'Unix seconds.' }) created!: number;
  @Field(() => String, { description: 'The model that answers.' }) model!: string;
  @Field(() => String, { description: 'The hub that answers.' }) hub!: string;
  @Directive('@listSize(assumedSize: 1)')
  @Field(() => [ChatChunkChoice], { description: 'What this chunk adds; none in the last one.' })
  choices!: ChatChunkChoice[];
  @Field(() => ChatUsage, { nullable: true, description: 'In the last chunk alone, where the hub counts.' })
  usage!: ChatUsage | null;
  @Field(() => GraphQLJSONObject, { nullable: true, description: 'In the last chunk: the whole receipt document.' })
  svc!: JsonObject | null;
}
