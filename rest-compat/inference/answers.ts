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

/* What the endpoints that sell work of models answer: the nouns of the graph, and what REST shows otherwise. */

const Details = JsonMembers.describe('Numbers and flags by the names that the hub gives them.').optional();

const Usage = ChatUsageNoun.omit({ details: true })
  .extend({ prompt_tokens_details: Details, completion_tokens_details: Details })
  .loose()
  .describe(
    'Numbers of tokens, as the hub stated them, and what else it counts: numbers, flags (`true`, `false`), and objects of these. Texts and lists that a hub adds are left out.',
  )
  .meta({ shows: ChatUsageNoun });

const Svc = SvcAnswer.describe(SIGNED_RECEIPT);

/** The receipt names the hub. */
export const ChatAnswer = ChatCompletionNoun.omit({ hub: true }).extend({ usage: Usage.nullable(), svc: Svc });

/**
 * One event of a streamed answer; `[DONE]` follows the last one. Of an answer that broke off the last one has no choices, and an event
 * with `error` follows in place of `[DONE]`.
 */
export const ChatChunk = ChatCompletionChunkNoun.omit({ hub: true }).extend({
  usage: Usage.nullable().optional().describe('Where stream_options.include_usage asks for it.'),
  svc: SvcAnswer.optional().describe('In the last event: the signed receipt.'),
});

export const ModelListAnswer = z.object({ object: z.literal('list'), ...ModelPageNoun.shape });

const ItemStatus = z.enum(['completed', 'incomplete']);

const Message = z.object({
  id: z.string(),
  type: z.literal('message'),
  status: ItemStatus,
  role: z.literal('assistant'),
  content: z.array(
    z.discriminatedUnion('type', [
      z.object({ type: z.literal('output_text'), text: z.string(), annotations: z.array(z.never()).max(0) }),
      z.object({ type: z.literal('refusal'), refusal: z.string() }),
    ]),
  ),
});

const Reasoning = z.object({
  id: z.string(),
  type: z.literal('reasoning'),
  status: ItemStatus,
  summary: z.array(z.never()).max(0).describe('Always empty: the reasoning is in content.'),
  content: z.array(z.object({ type: z.literal('reasoning_text'), text: z.string() })),
  encrypted_content: z
    .string()
    .optional()
    .describe('All of it, to be sent back as it is. Present where `include` names `reasoning.encrypted_content`.'),
});

const FunctionCall = z.object({
  id: z.string(),
  type: z.literal('function_call'),
  status: ItemStatus,
  call_id: z.string(),
  name: z.string(),
  arguments: z.string().describe('Arguments of the call: JSON, as the model wrote it.'),
});

export const ResponseAnswer = ModelResponseNoun.omit({ hub: true }).extend({
  status: ModelResponseNoun.shape.status.describe(
    '`incomplete`: the answer came and was cut short, see `incomplete_details`. `failed`: the answer ended before it was complete. A hub that gives none is a 502, uncharged.',
  ),
  output: z.array(z.discriminatedUnion('type', [Reasoning, Message, FunctionCall])).meta({ shows: ResponseItemNoun }),
  usage: Usage.extend({
    ...ResponseUsageNoun.pick({ input_tokens: true, output_tokens: true }).shape,
    input_tokens_details: Details,
    output_tokens_details: Details,
  })
    .meta({ shows: ResponseUsageNoun })
    .nullable(),
  svc: Svc,
});

const sequence_number = z.int().min(0).describe('From 0, without a gap.');
const place = { sequence_number, item_id: z.string(), output_index: z.int() };
const inPart = { ...place, content_index: z.int() };
const begun = ResponseAnswer.omit({ svc: true }).extend({ status: z.literal('in_progress') });
const Part = z.discriminatedUnion('type', [...Message.shape.content.element.options, Reasoning.shape.content.element]);
const InProgress = { id: z.string(), status: z.literal('in_progress') };
const ItemBegun = z.discriminatedUnion('type', [
  Reasoning.extend(InProgress),
  Message.extend(InProgress),
  FunctionCall.extend(InProgress),
]);
const logprobs = z.array(z.never()).max(0);

/** One event of a streamed response, as OpenAI spells it: `event:` says its type once more, and no `[DONE]` follows. */
export const ResponseEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('response.created'), sequence_number, response: begun }),
  z.object({ type: z.literal('response.in_progress'), sequence_number, response: begun }),
  z.object({ type: z.literal('response.output_item.added'), sequence_number, output_index: z.int(), item: ItemBegun }),
  z.object({ type: z.literal('response.content_part.added'), ...inPart, part: Part }),
  z.object({ type: z.literal('response.output_text.delta'), ...inPart, delta: z.string(), logprobs }),
  z.object({ type: z.literal('response.output_text.done'), ...inPart, text: z.string(), logprobs }),
  z.object({ type: z.literal('response.refusal.delta'), ...inPart, delta: z.string() }),
  z.object({ type: z.literal('response.refusal.done'), ...inPart, refusal: z.string() }),
  z.object({ type: z.literal('response.reasoning_text.delta'), ...inPart, delta: z.string() }),
  z.object({ type: z.literal('response.reasoning_text.done'), ...inPart, text: z.string() }),
  z.object({ type: z.literal('response.content_part.done'), ...inPart, part: Part }),
  z.object({ type: z.literal('response.function_call_arguments.delta'), ...place, delta: z.string() }),
  z.object({
    type: z.literal('response.function_call_arguments.done'),
    ...place,
    name: z.string(),
    arguments: z.string(),
  }),
  z.object({
    type: z.literal('response.output_item.done'),
    sequence_number,
    output_index: z.int(),
    item: z.discriminatedUnion('type', [Reasoning, Message, FunctionCall]),
  }),
  z.object({ type: z.literal('response.completed'), sequence_number, response: ResponseAnswer }),
  z.object({ type: z.literal('response.incomplete'), sequence_number, response: ResponseAnswer }),
  z.object({ type: z.literal('response.failed'), sequence_number, response: ResponseAnswer }),
  ResponseStreamFault,
]);

export const ImageAnswer = ImageGenerationNoun.omit({ model: true, hub: true }).extend({ svc: Svc });

export const EmbeddingsAnswer = EmbeddingListNoun.omit({ hub: true }).extend({
  usage: Usage.omit({ completion_tokens: true })
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
