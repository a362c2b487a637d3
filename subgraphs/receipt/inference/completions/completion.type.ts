import { GraphQLJSONObject, GraphQLSafeInt } from 'graphql-scalars';
import { Field, Int, ObjectType } from 'type-graphql';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { Receipt } from '../../receipt/receipt.entity.ts';
import type { AssistantMessage } from '../hubs/message.ts';
import type { ChatAnswer } from './completion.paid.ts';

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
  @Field(() => [ChatToolCall], { nullable: true }) toolCalls!: readonly ChatToolCall[] | null;
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
  @Field(() => [ChatChoice]) choices!: ChatChoice[];
  @Field(() => ChatUsage, { nullable: true }) usage!: ChatUsage | null;
  @Field(() => GraphQLJSONObject, { description: 'The whole public receipt document.' }) svc!: JsonObject;
  @Field(() => Receipt, { nullable: true }) receipt!: Receipt | null;
}

/** The kept answer in the graph's words, without its receipt. */
export function completionOf(answer: ChatAnswer): Omit<ChatCompletion, 'svc' | 'receipt'> {
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

export function usageOf(usage: ChatAnswer['usage']): ChatUsage | null {
  return (
    usage && {
      promptTokens: usage.prompt_tokens,
      completionTokens: usage.completion_tokens,
      totalTokens: usage.total_tokens,
    }
  );
}
