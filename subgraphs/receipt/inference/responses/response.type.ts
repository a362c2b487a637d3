import { GraphQLJSONObject, GraphQLSafeInt } from 'graphql-scalars';
import { Directive, Field, InputType, Int, ObjectType } from 'type-graphql';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { limits } from '../../../../schema/limits.ts';
import { graphEnum } from '../../../graph-enum.ts';
import { Receipt } from '../../receipt/receipt.entity.ts';
import { ChatMessageInput, TextInput } from '../completions/completion.type.ts';
import { type MessageItem, type OutputItem, textOf } from './output.ts';
import type { KeptResponse } from './response.paid.ts';

@InputType({ description: 'A one-shot request; the limits are those of POST /v1/responses.' })
export class ResponseInput extends TextInput {
  @Field(() => [ChatMessageInput], { description: 'A text is one message of role `user`.' })
  input!: ChatMessageInput[];
  @Field(() => Int, { nullable: true, description: 'Tokens of the answer at the most.' })
  maxOutputTokens?: number | null;
  @Field(() => Boolean, { nullable: true, description: 'True for responseStream alone, which says so itself.' })
  stream?: boolean | null;
}

@ObjectType({ description: 'A part of something said.' })
export class ResponseContent {
  @Field(() => String, { description: '`output_text` or `refusal`; null is what the other kind has.' }) type!: string;
  @Field(() => String, { nullable: true, description: 'What was said.' }) text!: string | null;
  @Field(() => [GraphQLJSONObject], { nullable: true, description: 'Always empty.' }) annotations!: JsonObject[] | null;
  @Field(() => String, { nullable: true, description: 'What the model says where it will not answer.' }) refusal!:
    | string
    | null;
}

@ObjectType({ description: 'Something said or something called; null is what the other kind has.' })
export class ResponseItem {
  @Field(() => String, { description: 'Its own, within the answer.' }) id!: string;
  @Field(() => String, { description: '`message` or `function_call`.' }) type!: string;
  @Field(() => String, { description: '`incomplete` where it was broken off.' }) status!: string;
  @Field(() => String, { nullable: true, description: 'Of a message: always `assistant`.' }) role!: string | null;
  @Directive('@listSize(assumedSize: 1)')
  @Field(() => [ResponseContent], { nullable: true, description: 'Of a message: what was said.' })
  content!: ResponseContent[] | null;
  @Field(() => String, { nullable: true, description: 'Of a call: by which the result of it is told.' }) callId!:
    | string
    | null;
  @Field(() => String, { nullable: true, description: 'Of a call: the function, as the request named it.' }) name!:
    | string
    | null;
  @Field(() => String, { nullable: true, description: 'JSON, as the model wrote it.' }) arguments!: string | null;
}

@ObjectType({ description: 'Why an answer that came is no success.' })
export class ResponseFault {
  @Field(() => String, { description: '`content_filter` or `max_output_tokens`.' }) code!: string;
  @Field(() => String, { description: 'The same in a sentence.' }) message!: string;
}

@ObjectType({ description: 'Tokens, as the hub counts them, under both names that the world has for each.' })
export class ResponseUsage {
  @Field(() => Int, { description: 'Of the request.' }) promptTokens!: number;
  @Field(() => Int, { description: 'Of the answer.' }) completionTokens!: number;
  @Field(() => Int, { description: 'Of both.' }) totalTokens!: number;
  @Field(() => Int, { description: 'Of the request.' }) inputTokens!: number;
  @Field(() => Int, { description: 'Of the answer.' }) outputTokens!: number;
}

const ResponseStatusWord = graphEnum<'completed' | 'failed'>('ResponseStatus', 'How an answer ended.', {
  completed: 'It was given.',
  failed: 'The hub broke off; what came until then is there.',
});

@ObjectType({ description: 'A paid one-shot answer with its receipt.' })
export class ModelResponse {
  @Field(() => String, { description: '`resp_` and the task.' }) id!: string;
  @Field(() => String, { description: 'Always `response`.' }) object!: 'response';
  @Field(() => GraphQLSafeInt, { description: 'Unix seconds.' }) createdAt!: number;
  @Field(() => String, { description: 'The model that answered.' }) model!: string;
  @Field(() => String, { description: 'The hub that answered.' }) hub!: string;
  @Field(() => ResponseStatusWord, { description: 'How it ended.' }) status!: 'completed' | 'failed';
  @Field(() => ResponseFault, { nullable: true, description: 'Null where the answer is a success.' })
  error!: ResponseFault | null;
  /** What is said and, at most, so many calls. */
  @Directive(`@listSize(assumedSize: ${1 + limits.tool_calls_max})`)
  @Field(() => [ResponseItem], { description: 'What was said and what is to be called, in order.' })
  output!: ResponseItem[];
  @Field(() => String, { description: 'All that was said.' }) outputText!: string;
  @Field(() => ResponseUsage, { nullable: true, description: 'Null where the hub does not count.' })
  usage!: ResponseUsage | null;
  @Field(() => GraphQLJSONObject, { description: 'The whole public receipt document.' }) svc!: JsonObject;
  @Field(() => Receipt, { nullable: true, description: 'The same, to be selected from.' }) receipt!: Receipt | null;
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
