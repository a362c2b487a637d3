import { z } from 'zod';
import { limits } from '../../schema/limits.ts';
import { modelKinds } from '../../schema/route-words.ts';
import { JsonMembers, nameComponents } from '../answer-shapes.ts';
import { SvcAnswer } from '../receipt/signed-receipt.ts';
import { ResponseStreamFault } from './stream-fault.ts';

const Details = JsonMembers.describe('Numbers and flags by the names that the hub gives them.').optional();

/** As the graph has it: what else a hub counts is one member. */
const Counts = z.object({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  details: JsonMembers,
});

const ResponseCounts = z.object({
  ...Counts.omit({ details: true }).shape,
  input_tokens: z.int(),
  output_tokens: z.int(),
  details: JsonMembers,
});

const Usage = z
  .object({
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    total_tokens: z.int(),
    prompt_tokens_details: Details,
    completion_tokens_details: Details,
  })
  .loose()
  .describe(
    'Numbers of tokens, as the hub stated them, and what else it counts: numbers, flags (`true`, `false`), and objects of these. Texts and lists that a hub adds are left out.',
  )
  .meta({ shows: Counts });

const reasoning = {
  reasoning_content: z.string().optional().describe('What the model thought, where its hub has this member.'),
  reasoning: z.string().optional().describe('What the model thought, where its hub has this member.'),
  reasoning_details: z
    .array(JsonMembers)
    .optional()
    .describe('What the model thought, part by part, as its hub spells it. Some models want it back unchanged.'),
} as const;

const ToolCall = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string().describe('JSON, as the model wrote it.') }),
});

const ToolCallDelta = z.object({
  index: z.int().describe('Which call of the message, from 0.'),
  id: z.string().optional().describe('In the first chunk of a call, as type and name.'),
  type: z.literal('function').optional(),
  function: z.object({ name: z.string().optional(), arguments: z.string() }),
});

const FinishReason = z.enum(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']);

export const ChatAnswer = z.object({
  id: z.string(),
  object: z.literal('chat.completion'),
  created: z.int().describe('Unix seconds.'),
  model: z.string(),
  choices: z.array(
    z.object({
      index: z.int(),
      message: z.object({
        role: z.string(),
        content: z
          .string()
          .nullable()
          .describe('Null where the model calls tools, refuses or only thinks, and says no more.'),
        tool_calls: z.array(ToolCall).optional(),
        refusal: z.string().optional(),
        ...reasoning,
      }),
      finish_reason: FinishReason.nullable(),
    }),
  ),
  usage: Usage.nullable(),
  svc: SvcAnswer.describe('The signed receipt: verify_url, payment_ref, task_id, proof_outcome and all proofs.'),
});

/**
 * One event of a streamed answer; `[DONE]` follows the last one. Of an answer that broke off the last one has no choices, and an event
 * with `error` follows in place of `[DONE]`.
 */
export const ChatChunk = z.object({
  id: z.string(),
  object: z.literal('chat.completion.chunk'),
  created: z.int().describe('Unix seconds.'),
  model: z.string(),
  choices: z.array(
    z.object({
      index: z.int(),
      delta: z.object({
        role: z.string().optional(),
        content: z.string().optional(),
        refusal: z.string().optional(),
        ...reasoning,
        tool_calls: z.array(ToolCallDelta).optional(),
      }),
      finish_reason: FinishReason.nullable().describe('Null until the choice ends.'),
    }),
  ),
  usage: Usage.nullable().optional().describe('Where stream_options.include_usage asks for it.'),
  svc: SvcAnswer.optional().describe('In the last event: the signed receipt.'),
});

const Kinds = z.array(z.enum(modelKinds));

export const ModelAnswer = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: z.int().describe('Unix seconds; the same for every model, at any time.'),
  owned_by: z.string().describe('The hub behind the id; `svc` where it stands for several.'),
  hubs: z.array(z.string()).describe('In the order of trying.'),
  modality: z
    .object({ input: Kinds, output: Kinds })
    .describe('What it accepts and returns, at the endpoint that sells it.'),
  price: z
    .object({ amount: z.string(), currency: z.literal('USDC'), decimals: z.int(), per: z.literal('call') })
    .describe('`amount` is in atomic units: 10^decimals of them are one of the currency.'),
});

export const ModelListAnswer = z.object({
  object: z.literal('list'),
  data: z.array(ModelAnswer).meta({ graph: 'models' }),
  has_more: z
    .boolean()
    .describe(
      `True if the router has models that are not in data, which shows the first ${limits.router_models_max} of them. GET /v1/models/{id} finds the others.`,
    ),
});

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
  arguments: z.string().describe('JSON, as the model wrote it.'),
});

/** As the graph has it: one type for all items, in which members that an item lacks are null. They are left out on the wire. */
const Item = z.object({
  ...Message.omit({ content: true }).shape,
  summary: Reasoning.shape.summary,
  encrypted_content: Reasoning.shape.encrypted_content,
  content: z.object({ type: z.string(), text: z.string(), annotations: z.array(z.never()), refusal: z.string() }),
  call_id: z.string(),
  name: z.string(),
  arguments: z.string(),
});

export const ResponseAnswer = z.object({
  id: z.string(),
  object: z.literal('response'),
  created_at: z.int().describe('Unix seconds.'),
  model: z.string(),
  status: z
    .enum(['completed', 'incomplete', 'failed'])
    .describe(
      '`incomplete`: the answer came and was cut short, see `incomplete_details`. `failed`: the answer ended before it was complete. A hub that gives none is a 502, uncharged.',
    ),
  error: z
    .object({ code: z.literal('server_error'), message: z.string() })
    .nullable()
    .describe('Why it failed.'),
  incomplete_details: z
    .object({ reason: z.enum(['max_output_tokens', 'content_filter']) })
    .nullable()
    .describe('Why it was cut short.'),
  output: z.array(z.discriminatedUnion('type', [Reasoning, Message, FunctionCall])).meta({ shows: Item }),
  output_text: z.string().describe('All that was said.'),
  usage: Usage.extend({
    input_tokens: z.int(),
    output_tokens: z.int(),
    input_tokens_details: Details,
    output_tokens_details: Details,
  })
    .meta({ shows: ResponseCounts })
    .nullable(),
  svc: SvcAnswer.describe('The signed receipt.'),
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

const Svc = SvcAnswer.describe('The signed receipt: verify_url, payment_ref, task_id, proof_outcome and all proofs.');

export const ImageAnswer = z.object({
  created: z.int().describe('Unix seconds.'),
  data: z
    .array(
      z.object({
        b64_json: z.string().optional(),
        url: z.string().optional().describe('Where the hub keeps it, for as long as it does.'),
        revised_prompt: z.string().optional(),
      }),
    )
    .length(1),
  svc: Svc,
});

export const EmbeddingsAnswer = z.object({
  object: z.literal('list'),
  data: z
    .array(
      z.object({
        object: z.literal('embedding'),
        index: z.int().describe('Which input it is of, from 0.'),
        embedding: z
          .union([z.array(z.number()), z.string()])
          .describe('A list of numbers. With `base64`: the base64 of its float32 bytes, little-endian.'),
      }),
    )
    .describe('One for each input, in the order of the inputs, all of one length.'),
  model: z.string(),
  usage: Usage.omit({ completion_tokens: true })
    .meta({ shows: Counts.pick({ prompt_tokens: true, total_tokens: true }) })
    .nullable()
    .describe('Numbers of tokens, as the hub stated them. Null where it does not count.'),
  svc: Svc,
});

export const TranscriptionAnswer = z.object({
  text: z.string(),
  task: z.literal('transcribe').optional(),
  language: z.string().optional(),
  duration: z.number().optional().describe('Seconds.'),
  segments: z
    .array(JsonMembers)
    .optional()
    .describe('As OpenAI spells them; with `verbose_json`, like all beside the text.'),
  svc: Svc,
});

nameComponents({
  Usage,
  ToolCall,
  ChatCompletion: ChatAnswer,
  ChatCompletionChunk: ChatChunk,
  Model: ModelAnswer,
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
