import { GraphQLJSONObject } from 'graphql-scalars';
import { Directive, Field, Float, InputType, Int, ObjectType } from 'type-graphql';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { MessageTokensNoun, MessageUsageNoun } from '../../../../schema/inference/message-answer.ts';
import { limits } from '../../../../schema/limits.ts';
import { BETAS_SERVED } from '../../../../schema/requests/anthropic-headers.ts';
import { FORWARDED_MEMBERS } from '../../../../schema/requests/forwarded/extra.ts';
import { objectType } from '../../../graph-type.ts';
import { Receipt } from '../../receipt/receipt.entity.ts';
import { WorkInput } from '../work.type.ts';
import { blocksUsage, stopDetailsOf } from './content.ts';
import type { KeptMessage } from './message.paid.ts';

/* Requests of the Messages API, and the answers, as the graph has them. */

const TURNS = "Turns of the conversation, oldest first, as Anthropic's Messages API spells them: `{role, content}`.";
const SYSTEM = 'Blocks of text that the model is told first.';
const TOOLS = '`{name, description, input_schema}` each.';
const CHOICE = '`{type: "auto"}`, `any`, `none`, or `{type: "tool", name}`.';
const THINKING = '`{type: "enabled", budget_tokens}`, `adaptive` or `disabled`.';
const OUTPUT = '`{effort, format: {type: "json_schema", schema}}`.';
const CONTEXT = '`{edits: [{type: "clear_thinking_20251015", keep: "all"}]}`: the whole history is read.';
const MARK = '`{type: "ephemeral"}`. Changes nothing about the answer.';

@InputType({ description: 'A request of the Messages API; the limits are those of POST /v1/messages.' })
export class MessageInput extends WorkInput {
  @Field(() => [GraphQLJSONObject], { description: TURNS }) messages!: JsonObject[];
  @Field(() => Int, { description: 'Tokens of the answer at the most.' }) maxTokens!: number;
  @Field(() => [GraphQLJSONObject], { nullable: true, description: SYSTEM }) system?: JsonObject[] | null;
  @Field(() => [String], { nullable: true, description: 'Up to four texts before which the answer ends.' })
  stopSequences?: string[] | null;
  @Field(() => Float, { nullable: true, description: '0 to 2: how far the model may stray from the likeliest.' })
  temperature?: number | null;
  @Field(() => Float, {
    nullable: true,
    description: 'Nucleus sampling: cumulative probability of the tokens considered, 0 to 1.',
  })
  topP?: number | null;
  @Field(() => Int, { nullable: true, description: 'Among how many of the likeliest tokens it chooses.' })
  topK?: number | null;
  @Field(() => [GraphQLJSONObject], { nullable: true, description: TOOLS }) tools?: JsonObject[] | null;
  @Field(() => GraphQLJSONObject, { nullable: true, description: CHOICE }) toolChoice?: JsonObject | null;
  @Field(() => GraphQLJSONObject, { nullable: true, description: THINKING }) thinking?: JsonObject | null;
  @Field(() => GraphQLJSONObject, { nullable: true, description: OUTPUT }) outputConfig?: JsonObject | null;
  @Field(() => GraphQLJSONObject, { nullable: true, description: MARK }) cacheControl?: JsonObject | null;
  @Field(() => GraphQLJSONObject, { nullable: true, description: CONTEXT }) contextManagement?: JsonObject | null;
  @Field(() => [String], {
    nullable: true,
    description: BETAS_SERVED,
  })
  betas?: string[] | null;
  @Field(() => GraphQLJSONObject, { nullable: true, description: FORWARDED_MEMBERS }) extra?: JsonObject | null;
  @Field(() => Boolean, { nullable: true, description: 'True for messageStream alone, which says so itself.' })
  stream?: boolean | null;
}

@InputType({ description: 'What a message is asked with, but for how its answer is drawn.' })
export class MessageTokensInput {
  @Field(() => String, { defaultValue: 'svc/auto', description: 'Ignored: the estimate is the same for each.' })
  model!: string;
  @Field(() => [GraphQLJSONObject], { description: TURNS }) messages!: JsonObject[];
  @Field(() => [GraphQLJSONObject], { nullable: true, description: SYSTEM }) system?: JsonObject[] | null;
  @Field(() => [GraphQLJSONObject], { nullable: true, description: TOOLS }) tools?: JsonObject[] | null;
  @Field(() => GraphQLJSONObject, { nullable: true, description: CHOICE }) toolChoice?: JsonObject | null;
  @Field(() => GraphQLJSONObject, { nullable: true, description: THINKING }) thinking?: JsonObject | null;
  @Field(() => GraphQLJSONObject, { nullable: true, description: OUTPUT }) outputConfig?: JsonObject | null;
  @Field(() => GraphQLJSONObject, { nullable: true, description: MARK }) cacheControl?: JsonObject | null;
  @Field(() => GraphQLJSONObject, { nullable: true, description: CONTEXT }) contextManagement?: JsonObject | null;
  @Field(() => GraphQLJSONObject, {
    nullable: true,
    description: 'Members that this service does not know. Accepted and not counted.',
  })
  extra?: JsonObject | null;
}

export const MessageTokens = objectType(
  'MessageTokens',
  'Number of tokens of a request, estimated without asking a model.',
  MessageTokensNoun,
);
export type MessageTokens = InstanceType<typeof MessageTokens>;

export const MessageUsage = objectType('MessageUsage', 'Numbers of tokens, as the hub stated them.', MessageUsageNoun);
export type MessageUsage = InstanceType<typeof MessageUsage>;

@ObjectType({ description: 'A paid answer in the blocks of the Messages API, with its receipt.' })
export class ModelMessage {
  @Field(() => String, { description: '`msg_` followed by the task id.' }) id!: string;
  @Field(() => String, { description: 'Always `message`.' }) type!: 'message';
  @Field(() => String, { description: 'Always `assistant`.' }) role!: 'assistant';
  @Field(() => String, { description: 'Model that the hub was asked for. See answered_model.' }) model!: string;
  @Field(() => String, { description: 'The hub that answered.' }) hub!: string;
  /** What was thought, a text, a refusal and so many calls; a hub of Anthropic's dialect may give several of the first two. */
  @Directive(`@listSize(assumedSize: ${3 + limits.tool_calls_max})`)
  @Field(() => [GraphQLJSONObject], {
    description: "Blocks of text, thinking and tool calls, as Anthropic's API spells them.",
  })
  content!: readonly JsonObject[];
  @Field(() => String, {
    description: 'Why it ended: `end_turn`, `max_tokens`, `stop_sequence`, `tool_use` or `refusal`.',
  })
  stopReason!: string;
  @Field(() => String, { nullable: true, description: 'Which text ended it, where the hub says so.' })
  stopSequence!: string | null;
  @Field(() => GraphQLJSONObject, { nullable: true, description: 'Present if the model refused; otherwise null.' })
  stopDetails!: JsonObject | null;
  @Field(() => MessageUsage, { description: 'Tokens of request and answer.' }) usage!: MessageUsage;
  @Field(() => GraphQLJSONObject, { description: 'The whole public receipt document.' }) svc!: JsonObject;
  @Field(() => Receipt, { nullable: true, description: 'The same, to be selected from.' }) receipt!: Receipt | null;
}

/** The kept answer in the graph's words, without its receipt. */
export function messageFields(answer: KeptMessage): Omit<ModelMessage, 'svc' | 'receipt'> {
  const { id, model, hub, content, stop_reason, stop_sequence: stopSequence, usage } = answer;
  const counted = blocksUsage(usage);
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    hub,
    content,
    stopReason: stop_reason ?? 'end_turn',
    stopSequence,
    stopDetails: stopDetailsOf(stop_reason),
    usage: {
      inputTokens: counted.input_tokens,
      outputTokens: counted.output_tokens,
      cacheReadInputTokens: counted.cache_read_input_tokens,
      cacheCreationInputTokens: counted.cache_creation_input_tokens,
      outputTokensDetails: counted.output_tokens_details,
    },
  };
}

@ObjectType({ description: 'One event of a streamed message.' })
export class MessageStreamEvent {
  @Field(() => String, { description: '`message_start`, `content_block_delta`, `svc` and the like.' }) type!: string;
  @Field(() => GraphQLJSONObject, {
    description: 'The whole event, as Anthropic spells it; `svc` in the one before the last is the receipt.',
  })
  event!: JsonObject;
}
