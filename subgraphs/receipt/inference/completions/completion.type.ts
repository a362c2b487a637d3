import { GraphQLJSON, GraphQLJSONObject, GraphQLSafeInt } from 'graphql-scalars';
import { Directive, Field, Float, InputType, Int, ObjectType } from 'type-graphql';
import type { Json, JsonObject } from '../../../../schema/canonical-json.ts';
import { limits } from '../../../../schema/limits.ts';
import { Receipt } from '../../receipt/receipt.entity.ts';
import type { AssistantMessage } from '../hubs/chat.ts';
import { WorkInput } from '../work.type.ts';
import type { KeptChat } from './completion.paid.ts';

@InputType()
export class ChatMessageInput {
  @Field(() => String, { description: '`system`, `developer`, `user`, `assistant` or `tool`.' }) role!: string;
  @Field(() => String, { nullable: true }) content?: string | null;
  @Field(() => [GraphQLJSONObject], {
    nullable: true,
    description: 'Instead of `content`: texts and images, as OpenAI spells the parts of a message.',
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
}

/** What may be asked of a model's text beside its messages; chats and responses alike. JSON is as a chat of OpenAI's spells it. */
@InputType()
export abstract class TextInput extends WorkInput {
  @Field(() => Float, { nullable: true }) temperature?: number | null;
  @Field(() => Float, { nullable: true }) topP?: number | null;
  @Field(() => [GraphQLJSONObject], { nullable: true, description: '`{type: "function", function: {name, …}}` each.' })
  tools?: JsonObject[] | null;
  @Field(() => GraphQLJSON, { nullable: true, description: '`none`, `auto`, `required`, or an object that names one.' })
  toolChoice?: Json;
  @Field(() => Boolean, { nullable: true }) parallelToolCalls?: boolean | null;
  @Field(() => GraphQLJSONObject, { nullable: true, description: '`{type: "json_schema", json_schema: {…}}`.' })
  responseFormat?: JsonObject | null;
  @Field(() => String, { nullable: true, description: 'Passed on where the hub says that the model reasons.' })
  reasoningEffort?: string | null;
}

@InputType({ description: 'Read by chatCompletionStream.' })
export class ChatStreamOptionsInput {
  @Field(() => Boolean, { nullable: true, description: 'The last chunk says how many tokens were used.' })
  includeUsage?: boolean | null;
}

@InputType({ description: 'A chat request; the limits are those of POST /v1/chat/completions.' })
export class ChatCompletionInput extends TextInput {
  @Field(() => [ChatMessageInput])
  messages!: ChatMessageInput[];
  @Field(() => Int, { nullable: true })
  maxTokens?: number | null;
  @Field(() => [String], { nullable: true }) stop?: string[] | null;
  @Field(() => GraphQLSafeInt, { nullable: true }) seed?: number | null;
  @Field(() => Float, { nullable: true }) presencePenalty?: number | null;
  @Field(() => Float, { nullable: true }) frequencyPenalty?: number | null;
  @Field(() => Boolean, { defaultValue: false })
  stream!: boolean;
  @Field(() => ChatStreamOptionsInput, { nullable: true })
  streamOptions?: ChatStreamOptionsInput | null;
}

@ObjectType()
export class ChatFunctionCall {
  @Field(() => String) name!: string;
  @Field(() => String, { description: 'JSON, as the model wrote it.' }) arguments!: string;
}

@ObjectType({ description: 'A tool that the model wants called.' })
export class ChatToolCall {
  @Field(() => String) id!: string;
  @Field(() => String, { description: 'Always `function`.' }) type!: 'function';
  @Field(() => ChatFunctionCall) function!: ChatFunctionCall;
}

@ObjectType()
export class ChatMessage {
  @Field(() => String) role!: string;
  @Field(() => String, {
    nullable: true,
    description: 'Null where the model calls tools, or refuses, and says no more.',
  })
  content!: string | null;
  @Directive(`@listSize(assumedSize: ${limits.tool_calls_max})`)
  @Field(() => [ChatToolCall], { nullable: true })
  toolCalls!: readonly ChatToolCall[] | null;
  @Field(() => String, { nullable: true, description: 'What the model says where it will not answer.' })
  refusal!: string | null;
}

@ObjectType()
export class ChatChoice {
  @Field(() => Int) index!: number;
  @Field(() => ChatMessage) message!: ChatMessage;
  @Field(() => String, { nullable: true }) finishReason!: string | null;
}

@ObjectType({ description: 'Tokens, as the hub counts them.' })
export class ChatUsage {
  @Field(() => Int) promptTokens!: number;
  @Field(() => Int) completionTokens!: number;
  @Field(() => Int) totalTokens!: number;
}

@ObjectType({ description: 'A paid answer with its receipt.' })
export class ChatCompletion {
  @Field(() => String) id!: string;
  @Field(() => String, { description: 'Always `chat.completion`.' }) object!: 'chat.completion';
  @Field(() => GraphQLSafeInt, { description: 'Unix seconds.' }) created!: number;
  @Field(() => String, { description: 'The model that answered.' }) model!: string;
  @Field(() => String, { description: 'The hub that answered.' }) hub!: string;
  @Directive('@listSize(assumedSize: 1)')
  @Field(() => [ChatChoice])
  choices!: ChatChoice[];
  @Field(() => ChatUsage, { nullable: true }) usage!: ChatUsage | null;
  @Field(() => GraphQLJSONObject, { description: 'The whole public receipt document.' }) svc!: JsonObject;
  @Field(() => Receipt, { nullable: true }) receipt!: Receipt | null;
}

/** The kept answer in the graph's words, without its receipt. */
export function completionFields(answer: KeptChat): Omit<ChatCompletion, 'svc' | 'receipt'> {
  const { id, created, model, hub, choices, usage } = answer;
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    hub,
    choices: choices.map(({ index, message, finish_reason }) => ({
      index,
      message: messageOf(message),
      finishReason: finish_reason,
    })),
    usage: usageOf(usage),
  };
}

function messageOf({ role, content, tool_calls, refusal }: AssistantMessage): ChatMessage {
  return { role, content, toolCalls: tool_calls ?? null, refusal: refusal ?? null };
}

export function usageOf(usage: KeptChat['usage']): ChatUsage | null {
  return (
    usage && {
      promptTokens: usage.prompt_tokens,
      completionTokens: usage.completion_tokens,
      totalTokens: usage.total_tokens,
    }
  );
}

@ObjectType({ description: 'What a chunk adds to the name and the arguments of a call.' })
export class ChatFunctionDelta {
  @Field(() => String, { nullable: true }) name!: string | null;
  @Field(() => String, { description: 'A piece of JSON, as the model wrote it.' }) arguments!: string;
}

@ObjectType({ description: 'What a chunk adds to a call; id, type and name stand in the first one alone.' })
export class ChatToolCallDelta {
  @Field(() => Int, { description: 'Which call of the message, from 0.' }) index!: number;
  @Field(() => String, { nullable: true }) id!: string | null;
  @Field(() => String, { nullable: true, description: 'Always `function`.' }) type!: 'function' | null;
  @Field(() => ChatFunctionDelta) function!: ChatFunctionDelta;
}

@ObjectType({ description: 'What a chunk adds to a message.' })
export class ChatDelta {
  @Field(() => String, { nullable: true, description: 'In the first chunk alone.' }) role!: string | null;
  @Field(() => String, { nullable: true }) content!: string | null;
  @Field(() => String, { nullable: true }) refusal!: string | null;
  @Directive(`@listSize(assumedSize: ${limits.tool_calls_max})`)
  @Field(() => [ChatToolCallDelta], { nullable: true })
  toolCalls!: ChatToolCallDelta[] | null;
}

@ObjectType()
export class ChatChunkChoice {
  @Field(() => Int) index!: number;
  @Field(() => ChatDelta) delta!: ChatDelta;
  @Field(() => String, { nullable: true, description: '`error` where the hub broke off.' })
  finishReason!: string | null;
}

@ObjectType({ description: 'A piece of a paid answer; the last one brings the receipt.' })
export class ChatCompletionChunk {
  @Field(() => String) id!: string;
  @Field(() => String, { description: 'Always `chat.completion.chunk`.' }) object!: 'chat.completion.chunk';
  @Field(() => GraphQLSafeInt, { description: 'Unix seconds.' }) created!: number;
  @Field(() => String, { description: 'The model that answers.' }) model!: string;
  @Field(() => String, { description: 'The hub that answers.' }) hub!: string;
  @Directive('@listSize(assumedSize: 1)')
  @Field(() => [ChatChunkChoice])
  choices!: ChatChunkChoice[];
  @Field(() => ChatUsage, { nullable: true, description: 'In the last chunk alone, where the hub counts.' })
  usage!: ChatUsage | null;
  @Field(() => GraphQLJSONObject, { nullable: true, description: 'In the last chunk: the whole receipt document.' })
  svc!: JsonObject | null;
}
