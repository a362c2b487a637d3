import { z } from 'zod';
import { JsonMembers, nameComponents } from '../answer-shapes.ts';
import { SvcAnswer } from '../receipt/signed-receipt.ts';

const Usage = z.object({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() });

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
        content: z.string().nullable().describe('Null where the model calls tools, or refuses, and says no more.'),
        tool_calls: z.array(ToolCall).optional(),
        refusal: z.string().optional(),
      }),
      finish_reason: z.string().nullable().describe('`stop`, `length`, `tool_calls` or `content_filter`.'),
    }),
  ),
  usage: Usage.nullable(),
  svc: SvcAnswer.describe('The signed receipt: verify_url, payment_ref, task_id, proof_outcome and all proofs.'),
});

/** One event of a streamed answer; `[DONE]` follows the last one. */
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
        tool_calls: z.array(ToolCallDelta).optional(),
      }),
      finish_reason: z.string().nullable().describe('`error` where the hub broke off.'),
    }),
  ),
  usage: Usage.nullable().optional().describe('Where stream_options.include_usage asks for it.'),
  svc: SvcAnswer.optional().describe('In the last event: the signed receipt.'),
});

const Kinds = z.array(z.enum(['text', 'image', 'audio']));

export const ModelAnswer = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: z.int().describe('Unix seconds; the same for every model, at any time.'),
  owned_by: z.string().describe('The hub behind the id; `svc` where it stands for several.'),
  hubs: z.array(z.string()).describe('In the order of trying.'),
  modality: z.object({ input: Kinds, output: Kinds }).describe('What it takes and gives, at the door that sells that.'),
  price: z
    .object({ amount: z.string(), currency: z.literal('USDC'), decimals: z.int(), per: z.literal('call') })
    .describe('`amount` is in atomic units: 10^decimals of them are one of the currency.'),
});

export const ModelListAnswer = z.object({ object: z.literal('list'), data: z.array(ModelAnswer) });

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

const FunctionCall = z.object({
  id: z.string(),
  type: z.literal('function_call'),
  status: ItemStatus,
  call_id: z.string(),
  name: z.string(),
  arguments: z.string().describe('JSON, as the model wrote it.'),
});

export const ResponseAnswer = z.object({
  id: z.string(),
  object: z.literal('response'),
  created_at: z.int().describe('Unix seconds.'),
  model: z.string(),
  status: z
    .enum(['completed', 'failed'])
    .describe(
      '`failed`: the answer came, and withholds what was asked for. A hub that gives none is a 502, uncharged.',
    ),
  error: z
    .object({ code: z.enum(['content_filter', 'max_output_tokens', 'server_error']), message: z.string() })
    .nullable()
    .describe('Why it failed.'),
  output: z.array(z.discriminatedUnion('type', [Message, FunctionCall])),
  output_text: z.string().describe('All that was said.'),
  usage: Usage.extend({ input_tokens: z.int(), output_tokens: z.int() }).nullable(),
  svc: SvcAnswer.describe('The signed receipt.'),
});

const sequence_number = z.int().min(0).describe('From 0, without a gap.');
const place = { sequence_number, item_id: z.string(), output_index: z.int() };
const inPart = { ...place, content_index: z.int() };
const begun = ResponseAnswer.omit({ svc: true }).extend({ status: z.literal('in_progress') });
const Part = Message.shape.content.element;
const InProgress = { id: z.string(), status: z.literal('in_progress') };
const ItemBegun = z.discriminatedUnion('type', [Message.extend(InProgress), FunctionCall.extend(InProgress)]);
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
    item: z.discriminatedUnion('type', [Message, FunctionCall]),
  }),
  z.object({ type: z.literal('response.completed'), sequence_number, response: ResponseAnswer }),
  z.object({ type: z.literal('response.failed'), sequence_number, response: ResponseAnswer }),
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
  ResponseFunctionCall: FunctionCall,
  Response: ResponseAnswer,
  ResponseInProgress: begun,
  ResponseEvent,
  Image: ImageAnswer,
  Transcription: TranscriptionAnswer,
});
