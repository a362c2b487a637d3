import { z } from 'zod';
import { JsonMembers } from '../receipt/answers.ts';

export const Usage = z.object({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() });

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
  svc: JsonMembers.describe('The signed receipt: verify_url, payment_ref, task_id, proof_outcome and all proofs.'),
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
  svc: JsonMembers.optional().describe('In the last event: the signed receipt.'),
});

const Kinds = z.array(z.enum(['text', 'image', 'audio']));

export const Model = z.object({
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

export const ModelList = z.object({ object: z.literal('list'), data: z.array(Model) });
