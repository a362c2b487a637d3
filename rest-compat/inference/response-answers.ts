import { z } from 'zod';
import { JsonMembers } from '../receipt/answers.ts';
import { Usage } from './answers.ts';

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
  svc: JsonMembers.describe('The signed receipt.'),
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
