import { z } from 'zod';
import {
  ChatCompletionChunkNoun,
  ChatCompletionNoun,
  ChatToolCallNoun,
  ChatUsageNoun,
} from '../../schema/inference/chat-answer.ts';
import {
  EmbeddingListNoun,
  EmbeddingUsageNoun,
  ImageGenerationNoun,
  TranscriptionNoun,
} from '../../schema/inference/media-answer.ts';
import { ModelNoun, ModelPageNoun } from '../../schema/inference/model.ts';
import { SIGNED_RECEIPT } from '../../schema/inference/paid-answer.ts';
import { ModelResponseNoun, ResponseItemNoun, ResponseUsageNoun } from '../../schema/inference/response-answer.ts';
import { JsonMembers, nameComponents } from '../answer-shapes.ts';
import { SvcAnswer } from '../receipt/signed-receipt.ts';
import { ResponseStreamFault } from './stream-fault.ts';

/* Responses of the endpoints that sell work of models: the nouns of the graph, with the members that differ by REST. */

const Details = JsonMembers.describe(
  'Further counts of the hub, under its own names. Absent if it sent none.',
).optional();

const Usage = ChatUsageNoun.omit({ details: true })
  .extend({ prompt_tokens_details: Details, completion_tokens_details: Details })
  .loose()
  .describe(
    'Token counts as the hub stated them, with its further numbers, booleans and objects of these. Its texts and lists are left out.',
  )
  .meta({ shows: ChatUsageNoun });

const Svc = SvcAnswer.describe(SIGNED_RECEIPT);

/** Without the hub, which the receipt names. */
export const ChatAnswer = ChatCompletionNoun.omit({ hub: true }).extend({ usage: Usage.nullable(), svc: Svc });

/**
 * One event of a streamed answer; `[DONE]` follows the last one. If the answer broke off, the last one has no choices, and an event with
 * `error` follows in place of `[DONE]`.
 */
export const ChatChunk = ChatCompletionChunkNoun.omit({ hub: true }).extend({
  usage: Usage.nullable()
    .optional()
    .describe(
      'Numbers of tokens, in the last event. Null in the others, or if the hub does not state them; absent unless `stream_options.include_usage` is true.',
    ),
  svc: SvcAnswer.optional().describe('The signed receipt, in the last event. Absent in all others.'),
});

export const ModelListAnswer = z.object({ object: z.literal('list'), ...ModelPageNoun.shape });

const ItemStatus = z
  .enum(['completed', 'incomplete'])
  .describe('Whether the item is complete: `completed` or `incomplete`.');

const item_id = z.string().describe('Id of the item.');

const Message = z.object({
  id: item_id,
  type: z.literal('message'),
  status: ItemStatus,
  role: z.literal('assistant'),
  content: z
    .array(
      z.discriminatedUnion('type', [
        z.object({
          type: z.literal('output_text'),
          text: z.string().describe('Text of this part of the answer.'),
          annotations: z.array(z.never()).max(0).describe('Always empty: answers have no citations.'),
        }),
        z.object({
          type: z.literal('refusal'),
          refusal: z.string().describe('Sentence in which the model refuses to answer.'),
        }),
      ]),
    )
    .describe('Parts of the message: text, or a refusal.'),
});

const Reasoning = z.object({
  id: item_id,
  type: z.literal('reasoning'),
  status: ItemStatus,
  summary: z.array(z.never()).max(0).describe('Always empty: the reasoning is in `content`.'),
  content: z
    .array(z.object({ type: z.literal('reasoning_text'), text: z.string().describe('Text of the reasoning.') }))
    .describe('Text of the reasoning, in parts.'),
  encrypted_content: z
    .string()
    .optional()
    .describe(
      'The whole reasoning in base64, not encrypted by this service, to be sent back unchanged. Absent unless `include` names `reasoning.encrypted_content`.',
    ),
});

const FunctionCall = z.object({
  id: item_id,
  type: z.literal('function_call'),
  status: ItemStatus,
  call_id: z.string().describe('Id of the function call. Send it back with the result.'),
  name: z.string().describe('Name of the function to call.'),
  arguments: z.string().describe('Arguments of the call: JSON, as the model wrote it.'),
});

export const ResponseAnswer = ModelResponseNoun.omit({ hub: true }).extend({
  status: ModelResponseNoun.shape.status.describe(
    '`completed`; `incomplete`: the answer was cut short, see `incomplete_details`; `failed`: the answer ended before it was complete. If no hub answers, the response is an error such as 502, and nothing is charged.',
  ),
  output: z
    .array(z.discriminatedUnion('type', [Reasoning, Message, FunctionCall]))
    .meta({ shows: ResponseItemNoun })
    .describe('Items of the answer: reasoning, messages and function calls.'),
  usage: Usage.extend({
    ...ResponseUsageNoun.pick({ input_tokens: true, output_tokens: true }).shape,
    input_tokens_details: Details,
    output_tokens_details: Details,
  })
    .meta({ shows: ResponseUsageNoun })
    .nullable()
    .describe('Numbers of tokens of request and answer. Null if the hub did not state them.'),
  svc: Svc,
});

const sequence_number = z.int().min(0).describe('Number of the event, from 0 without gaps.');
const output_index = z.int().describe('Index of the item in `output`, from 0.');
const place = { sequence_number, item_id, output_index };
const inPart = { ...place, content_index: z.int().describe('Index of the part in `content`, from 0.') };
const delta = z.string().describe('Next piece of the text, to be appended.');
const text = z.string().describe('The complete text of the part.');
const written = z.string().describe('The complete arguments of the call: JSON, as the model wrote it.');
const begun = ResponseAnswer.omit({ svc: true }).extend({ status: z.literal('in_progress') });
const response = begun.describe('The response at its start: its status is `in_progress`, and `output` is empty.');
const ended = ResponseAnswer.describe('The response at its end, with its signed receipt.');
const part = z
  .discriminatedUnion('type', [...Message.shape.content.element.options, Reasoning.shape.content.element])
  .describe('The part: empty when it is added, complete when it is done.');
const NoContent = z.array(z.never()).max(0).describe('Always empty: the parts follow in later events.');
const InProgress = { id: item_id, status: z.literal('in_progress') };
const StartedItem = z
  .discriminatedUnion('type', [
    Reasoning.omit({ encrypted_content: true }).extend({ ...InProgress, content: NoContent }),
    Message.extend({ ...InProgress, content: NoContent }),
    FunctionCall.extend({
      ...InProgress,
      call_id: FunctionCall.shape.call_id.describe(
        'Id of the function call. Send it back with the result. Empty if the model has not stated it yet.',
      ),
      name: FunctionCall.shape.name.describe('Name of the function to call. Empty if the model has not stated it yet.'),
      arguments: z.literal('').describe('Always empty: the arguments follow in later events.'),
    }),
  ])
  .describe('The item at its start, before its content.');
const logprobs = z.array(z.never()).max(0).describe('Always empty: probabilities of tokens are not returned.');

/** One event of a streamed response in the form of OpenAI. `event:` repeats its type, and no `[DONE]` follows. */
export const ResponseEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('response.created'), sequence_number, response }),
  z.object({ type: z.literal('response.in_progress'), sequence_number, response }),
  z.object({ type: z.literal('response.output_item.added'), sequence_number, output_index, item: StartedItem }),
  z.object({ type: z.literal('response.content_part.added'), ...inPart, part }),
  z.object({ type: z.literal('response.output_text.delta'), ...inPart, delta, logprobs }),
  z.object({ type: z.literal('response.output_text.done'), ...inPart, text, logprobs }),
  z.object({ type: z.literal('response.refusal.delta'), ...inPart, delta }),
  z.object({ type: z.literal('response.refusal.done'), ...inPart, refusal: text }),
  z.object({ type: z.literal('response.reasoning_text.delta'), ...inPart, delta }),
  z.object({ type: z.literal('response.reasoning_text.done'), ...inPart, text }),
  z.object({ type: z.literal('response.content_part.done'), ...inPart, part }),
  z.object({ type: z.literal('response.function_call_arguments.delta'), ...place, delta }),
  z.object({
    type: z.literal('response.function_call_arguments.done'),
    ...place,
    name: FunctionCall.shape.name,
    arguments: written,
  }),
  z.object({
    type: z.literal('response.output_item.done'),
    sequence_number,
    output_index,
    item: z
      .discriminatedUnion('type', [Reasoning, Message, FunctionCall])
      .describe('The item at its end. Its `status` says whether it is complete.'),
  }),
  z.object({ type: z.literal('response.completed'), sequence_number, response: ended }),
  z.object({ type: z.literal('response.incomplete'), sequence_number, response: ended }),
  z.object({ type: z.literal('response.failed'), sequence_number, response: ended }),
  ResponseStreamFault,
]);

export const ImageAnswer = ImageGenerationNoun.omit({ model: true, hub: true }).extend({ svc: Svc });

export const EmbeddingsAnswer = EmbeddingListNoun.omit({ hub: true }).extend({
  usage: Usage.omit({ completion_tokens: true })
    .extend(EmbeddingUsageNoun.shape)
    .meta({ shows: EmbeddingUsageNoun })
    .nullable()
    .describe(EmbeddingListNoun.shape.usage.description ?? ''),
  svc: Svc,
});

export const TranscriptionAnswer = TranscriptionNoun.omit({ model: true, hub: true }).extend({ svc: Svc });

nameComponents({
  Usage,
  ToolCall: ChatToolCallNoun,
  ChatCompletion: ChatAnswer,
  ChatCompletionChunk: ChatChunk,
  Model: ModelNoun,
  ModelList: ModelListAnswer,
  ResponseMessage: Message,
  ResponseReasoning: Reasoning,
  ResponseFunctionCall: FunctionCall,
  Response: ResponseAnswer,
  ResponseInProgress: begun,
  ResponseEvent,
  Image: ImageAnswer,
  Embeddings: EmbeddingsAnswer,
  Transcription: TranscriptionAnswer,
});
