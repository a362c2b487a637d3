import { GraphQLJSON, GraphQLJSONObject, GraphQLSafeInt } from 'graphql-scalars';
import { Field, Float, InputType, Int } from 'type-graphql';
import type { Json, JsonObject } from '../../../../schema/canonical-json.ts';
import { WorkInput } from '../work.type.ts';

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
