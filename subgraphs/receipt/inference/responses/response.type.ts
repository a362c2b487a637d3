import { GraphQLJSONObject, GraphQLSafeInt } from 'graphql-scalars';
import { Directive, Field, InputType, Int, ObjectType } from 'type-graphql';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { responseStatuses } from '../../../../schema/inference/response-status.ts';
import { limits } from '../../../../schema/limits.ts';
import { wordEnum } from '../../../graph-enum.ts';
import { Receipt } from '../../receipt/receipt.entity.ts';
import { ChatMessageInput, TextInput } from '../completions/completion.type.ts';
import {
  type ContentPart,
  howResponseEnded,
  type OutputItem,
  type ReasoningPart,
  type ResponseEnd,
  responseUsage,
  textOf,
} from './output.ts';
import type { KeptResponse } from './response.paid.ts';

@InputType({ description: 'A one-shot request; the limits are those of POST /v1/responses.' })
export class ResponseInput extends TextInput {
  @Field(() => [ChatMessageInput], { description: 'A text is one message of role `user`.' })
  input!: InstanceType<typeof ChatMessageInput>[];
  @Field(() => Int, { nullable: true, description: 'Tokens of the answer at the most.' })
  maxOutputTokens?: number | null;
  @Field(() => [String], {
    nullable: true,
    description: '`reasoning.encrypted_content`, if reasoning is to be sent back.',
  })
  include?: string[] | null;
  @Field(() => Boolean, { nullable: true, description: 'True for responseStream alone, which says so itself.' })
  stream?: boolean | null;
}

@ObjectType({ description: 'A part of something said or thought.' })
export class ResponseContent {
  @Field(() => String, {
    description: '`output_text`, `refusal` or `reasoning_text`; null is what the other kinds have.',
  })
  type!: string;
  @Field(() => String, { nullable: true, description: 'What was said.' }) text!: string | null;
  @Field(() => [GraphQLJSONObject], { nullable: true, description: 'Always empty.' }) annotations!: JsonObject[] | null;
  @Field(() => String, { nullable: true, description: 'What the model says where it will not answer.' }) refusal!:
    | string
    | null;
}

@ObjectType({ description: 'Something thought, said or called; null is what the other kinds have.' })
export class ResponseItem {
  @Field(() => String, { description: 'Its own, within the answer.' }) id!: string;
  @Field(() => String, { description: '`reasoning`, `message` or `function_call`.' }) type!: string;
  @Field(() => String, { description: '`incomplete` where it was broken off.' }) status!: string;
  @Field(() => String, { nullable: true, description: 'Of a message: always `assistant`.' }) role!: string | null;
  @Directive('@listSize(assumedSize: 1)')
  @Field(() => [ResponseContent], {
    nullable: true,
    description: 'Of a message what was said, of reasoning what was thought.',
  })
  content!: ResponseContent[] | null;
  @Field(() => [GraphQLJSONObject], {
    nullable: true,
    description: 'Of reasoning. Always empty: the reasoning is in content.',
  })
  summary!: JsonObject[] | null;
  @Field(() => String, {
    nullable: true,
    description: 'Of reasoning: all of it, to be sent back as it is. Null unless `include` asks for it.',
  })
  encryptedContent!: string | null;
  @Field(() => String, { nullable: true, description: 'Of a call: by which the result of it is told.' }) callId!:
    | string
    | null;
  @Field(() => String, { nullable: true, description: 'Of a call: the function, as the request named it.' }) name!:
    | string
    | null;
  @Field(() => String, { nullable: true, description: 'JSON, as the model wrote it.' }) arguments!: string | null;
}

@ObjectType({ description: 'Why an answer was cut short, though it came to its end.' })
export class ResponseIncompletion {
  @Field(() => String, { description: '`max_output_tokens` or `content_filter`.' }) reason!: string;
}

@ObjectType({ description: 'Why an answer is not whole.' })
export class ResponseFault {
  @Field(() => String, { description: '`server_error`.' }) code!: string;
  @Field(() => String, { description: 'The same in a sentence.' }) message!: string;
}

@ObjectType({ description: 'Tokens, as the hub counts them, under both names that the world has for each.' })
export class ResponseUsage {
  @Field(() => Int, { description: 'Of the request.' }) promptTokens!: number;
  @Field(() => Int, { description: 'Of the answer.' }) completionTokens!: number;
  @Field(() => Int, { description: 'Of request and answer.' }) totalTokens!: number;
  @Field(() => Int, { description: 'Of the request.' }) inputTokens!: number;
  @Field(() => Int, { description: 'Of the answer.' }) outputTokens!: number;
  @Field(() => GraphQLJSONObject, {
    nullable: true,
    description:
      'All else that the hub counts, by its own names: `input_tokens_details` and `output_tokens_details` among it. By REST these are members of `usage`.',
  })
  details!: JsonObject | null;
}

const ResponseStatusWord = wordEnum(responseStatuses);

@ObjectType({ description: 'A paid one-shot answer with its receipt.' })
export class ModelResponse {
  @Field(() => String, { description: '`resp_` followed by the task id.' }) id!: string;
  @Field(() => String, { description: 'Always `response`.' }) object!: 'response';
  @Field(() => GraphQLSafeInt, { description: 'Unix seconds.' }) createdAt!: number;
  @Field(() => String, { description: 'Model that the hub was asked for. See answered_model.' }) model!: string;
  @Field(() => String, { description: 'The hub that answered.' }) hub!: string;
  @Field(() => ResponseStatusWord, { description: 'How it ended.' }) status!: ResponseEnd['status'];
  @Field(() => ResponseFault, { nullable: true, description: 'Null unless it failed.' })
  error!: ResponseFault | null;
  @Field(() => ResponseIncompletion, { nullable: true, description: 'Null unless it is incomplete.' })
  incompleteDetails!: ResponseIncompletion | null;
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
  const { status, error, incomplete_details } = howResponseEnded(output, fault);
  return {
    id,
    object: 'response',
    createdAt: created_at,
    model,
    hub,
    status,
    error,
    incompleteDetails: incomplete_details,
    output: output.map(itemOf),
    outputText: textOf(output),
    usage: usage && usageOf(usage),
  };
}

const absent = {
  role: null,
  content: null,
  summary: null,
  encryptedContent: null,
  callId: null,
  name: null,
  arguments: null,
} as const;

function itemOf(item: OutputItem): ResponseItem {
  if (item.type === 'message') return { ...absent, ...item, content: item.content.map(contentOf) };
  if (item.type === 'reasoning') {
    const { encrypted_content: encryptedContent = null, ...thought } = item;
    return { ...absent, ...thought, encryptedContent, content: thought.content.map(contentOf) };
  }
  const { call_id: callId, ...rest } = item;
  return { ...absent, ...rest, callId };
}

function contentOf(content: ContentPart | ReasoningPart): ResponseContent {
  return { text: null, annotations: null, refusal: null, ...content };
}

function usageOf(usage: NonNullable<KeptResponse['usage']>): ResponseUsage {
  const {
    prompt_tokens,
    completion_tokens,
    total_tokens,
    input_tokens: _,
    output_tokens: __,
    ...details
  } = responseUsage(usage);
  return {
    promptTokens: prompt_tokens,
    completionTokens: completion_tokens,
    totalTokens: total_tokens,
    inputTokens: prompt_tokens,
    outputTokens: completion_tokens,
    details,
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
