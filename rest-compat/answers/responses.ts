import { z } from 'zod';
import { Usage } from './inference.ts';
import { JsonMembers } from './receipt.ts';

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
    .object({ code: z.enum(['content_filter', 'max_output_tokens']), message: z.string() })
    .nullable()
    .describe('Why it failed.'),
  output: z.array(z.discriminatedUnion('type', [Message, FunctionCall])),
  output_text: z.string().describe('All that was said.'),
  usage: Usage.extend({ input_tokens: z.int(), output_tokens: z.int() }).nullable(),
  svc: JsonMembers.describe('The signed receipt.'),
});
