import { GraphQLJSONObject, GraphQLSafeInt } from 'graphql-scalars';
import { Directive, Field, InputType, Int, ObjectType } from 'type-graphql';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { limits } from '../../../../schema/limits.ts';
import { Receipt } from '../../receipt/receipt.entity.ts';
import { ChatMessageInput, TextInput } from '../completions/completion.type.ts';
import { type MessageItem, type OutputItem, textOf } from './output.ts';
import type { KeptResponse } from './response.paid.ts';

@InputType({ description: 'A one-shot request; the limits are those of POST /v1/responses.' })
export class ResponseInput extends TextInput {
  @Field(() => [ChatMessageInput], { description: 'A text is one message of role `user`.' })
  input!: ChatMessageInput[];
  @Field(() => Int, { nullable: true })
  maxOutputTokens?: number | null;
  @Field(() => Boolean, { nullable: true, description: 'True for responseStream alone, which says so itself.' })
  stream?: boolean | null;
}

@ObjectType()
export class ResponseContent {
  @Field(() => String, { description: '`output_text` or `refusal`; null is what the other kind has.' }) type!: string;
  @Field(() => String, { nullable: true }) text!: string | null;
  @Field(() => [GraphQLJSONObject], { nullable: true, description: 'Always empty.' }) annotations!: JsonObject[] | null;
  @Field(() => String, { nullable: true }) refusal!: string | null;
}

@ObjectType({ description: 'Something said or something called; null is what the other kind has.' })
export class ResponseItem {
  @Field(() => String) id!: string;
  @Field(() => String, { description: '`message` or `function_call`.' }) type!: string;
  @Field(() => String, { description: '`incomplete` where it was broken off.' }) status!: string;
  @Field(() => String, { nullable: true }) role!: string | null;
  @Directive('@listSize(assumedSize: 1)')
  @Field(() => [ResponseContent], { nullable: true })
  content!: ResponseContent[] | null;
  @Field(() => String, { nullable: true }) callId!: string | null;
  @Field(() => String, { nullable: true }) name!: string | null;
  @Field(() => String, { nullable: true, description: 'JSON, as the model wrote it.' }) arguments!: string | null;
}

@ObjectType({ description: 'Why an answer that came is no success.' })
export class ResponseFault {
  @Field(() => String, { description: '`content_filter` or `max_output_tokens`.' }) code!: string;
  @Field(() => String) message!: string;
}

@ObjectType({ description: 'Tokens, as the hub counts them, under both names that the world has for each.' })
export class ResponseUsage {
  @Field(() => Int) promptTokens!: number;
  @Field(() => Int) completionTokens!: number;
  @Field(() => Int) totalTokens!: number;
  @Field(() => Int) inputTokens!: number;
  @Field(() => Int) outputTokens!: number;
}

@ObjectType({ description: 'A paid one-shot answer with its receipt.' })
export class ModelResponse {
  @Field(() => String) id!: string;
  @Field(() => String, { description: 'Always `response`.' }) object!: 'response';
  @Field(() => GraphQLSafeInt, { description: 'Unix seconds.' }) createdAt!: number;
  @Field(() => String, { description: 'The model that answered.' }) model!: string;
  @Field(() => String, { description: 'The hub that answered.' }) hub!: string;
  @Field(() => String, { description: '`completed` or `failed`.' }) status!: 'completed' | 'failed';
  @Field(() => ResponseFault, { nullable: true }) error!: ResponseFault | null;
  /** What is said and, at most, so many calls. */
  @Directive(`@listSize(assumedSize: ${1 + limits.tool_calls_max})`)
  @Field(() => [ResponseItem])
  output!: ResponseItem[];
  @Field(() => String, { description: 'All that was said.' }) outputText!: string;
  @Field(() => ResponseUsage, { nullable: true }) usage!: ResponseUsage | null;
  @Field(() => GraphQLJSONObject, { description: 'The whole public receipt document.' }) svc!: JsonObject;
  @Field(() => Receipt, { nullable: true }) receipt!: Receipt | null;
}

/** The kept answer in the graph's words, without its receipt. */
export function responseOf(answer: KeptResponse): Omit<ModelResponse, 'svc' | 'receipt'> {
  const { id, created_at, model, hub, output, fault, usage } = answer;
  return {
    id,
    object: 'response',
    createdAt: created_at,
    model,
    hub,
    status: fault === null ? 'completed' : 'failed',
    error: fault,
    output: output.map(itemOf),
    outputText: textOf(output),
    usage: usage && usageOf(usage),
  };
}

const absent = { role: null, content: null, callId: null, name: null, arguments: null } as const;

function itemOf(item: OutputItem): ResponseItem {
  if (item.type === 'message') return { ...absent, ...item, content: item.content.map(contentOf) };
  const { call_id: callId, ...rest } = item;
  return { ...absent, ...rest, callId };
}

function contentOf(content: MessageItem['content'][number]): ResponseContent {
  return { text: null, annotations: null, refusal: null, ...content };
}

function usageOf({ prompt_tokens, completion_tokens, total_tokens }: NonNullable<KeptResponse['usage']>) {
  return {
    promptTokens: prompt_tokens,
    completionTokens: completion_tokens,
    totalTokens: total_tokens,
    inputTokens: prompt_tokens,
    outputTokens: completion_tokens,
  };
}

@ObjectType({ description: 'One event of a streamed response.' })
export class ResponseStreamEvent {
  @Field(() => String, { description: '`response.created`, `response.output_text.delta` and the like.' }) type!: string;
  @Field(() => Int, { description: 'From 0, without a gap.' }) sequenceNumber!: number;
  @Field(() => GraphQLJSONObject, {
    description: 'The whole event, as OpenAI spells it; in the last one the response with its receipt.',
  })
  event!: JsonObject;
}
