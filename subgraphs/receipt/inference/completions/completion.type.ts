import { GraphQLJSONObject, GraphQLSafeInt } from 'graphql-scalars';
import { Field, Float, InputType, Int, ObjectType } from 'type-graphql';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { Receipt } from '../../receipt/receipt.entity.ts';
import { WorkInput } from '../work.type.ts';
import type { ChatAnswer } from './completion.paid.ts';

@InputType()
export class ChatMessageInput {
  @Field(() => String, { description: '`system`, `user` or `assistant`.' }) role!: string;
  @Field(() => String) content!: string;
}

@InputType({ description: 'Read by chatCompletionStream.' })
export class ChatStreamOptionsInput {
  @Field(() => Boolean, { nullable: true, description: 'The last chunk says how many tokens were used.' })
  includeUsage?: boolean | null;
}

@InputType({ description: 'A chat request; the limits are those of POST /v1/chat/completions.' })
export class ChatCompletionInput extends WorkInput {
  @Field(() => [ChatMessageInput])
  messages!: ChatMessageInput[];
  @Field(() => Int, { nullable: true })
  maxTokens?: number | null;
  @Field(() => Float, { nullable: true })
  temperature?: number | null;
  @Field(() => Boolean, { defaultValue: false })
  stream!: boolean;
  @Field(() => ChatStreamOptionsInput, { nullable: true })
  streamOptions?: ChatStreamOptionsInput | null;
}

@ObjectType()
export class ChatMessage {
  @Field(() => String) role!: string;
  @Field(() => String) content!: string;
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
    choices: choices.map(({ index, message, finish_reason }) => ({ index, message, finishReason: finish_reason })),
    usage: usageOf(usage),
  };
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
