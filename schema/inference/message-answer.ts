import { z } from 'zod';
import { limits } from '../limits.ts';
import { JsonMember, keptWord, shownAsJson, sizedList } from '../noun.ts';
import { answeredBy, receipted } from './paid-answer.ts';

/* What is shown of a message, of the events of a streamed one, and of its tokens. */

export const MessageUsageNoun = z.object({
  input_tokens: z
    .int()
    .describe('Tokens of the request, without those that came from a cache. 0 if the hub does not count.'),
  output_tokens: z.int().describe('Tokens of the answer. 0 if the hub does not count.'),
  cache_read_input_tokens: z
    .int()
    .nullable()
    .describe('Tokens of the request that were read from a cache of the hub. Null if it states none.'),
  cache_creation_input_tokens: z
    .int()
    .nullable()
    .describe('Tokens of the request that were written to a cache of the hub. Null if it states none.'),
  output_tokens_details: shownAsJson(z.object({ thinking_tokens: z.int() }))
    .nullable()
    .describe('`{thinking_tokens}`: tokens of the answer that are thinking. Null if the hub states none.'),
});

export const ModelMessageNoun = z.object({
  id: z.string().describe('`msg_` followed by the task id.'),
  type: z.literal('message').describe('Always `message`.'),
  role: z.literal('assistant').describe('Always `assistant`.'),
  ...answeredBy,
  // What was thought, a text, a refusal and so many calls; a hub of Anthropic's dialect may give several of the first two.
  content: sizedList(JsonMember, 3 + limits.tool_calls_max).describe(
    "Blocks of text, thinking and tool calls, as Anthropic's API spells them. The receipt commits to this list as it stands here.",
  ),
  stop_reason: keptWord(z.enum(['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'refusal'])).describe(
    'Why the answer ended: `end_turn`, `max_tokens`, `stop_sequence`, `tool_use` or `refusal`.',
  ),
  stop_sequence: z
    .string()
    .nullable()
    .describe('Text that ended the answer. Null if none did, or the hub does not say.'),
  stop_details: shownAsJson(z.object({ type: z.literal('refusal'), category: z.null(), explanation: z.null() }))
    .nullable()
    .describe('Present if the model refused; otherwise null.'),
  usage: MessageUsageNoun.describe('Numbers of tokens, as the hub stated them; 0 or null where it states none.'),
  ...receipted,
});

export const MessageStreamEventNoun = z.object({
  type: z.string().describe('Type of the event: `message_start`, `content_block_delta`, `svc` and the like.'),
  event: JsonMember.describe(
    'The whole event, as Anthropic spells it. The one before the last has the receipt as `svc`.',
  ),
});

export const MessageTokensNoun = z.object({
  input_tokens: z
    .int()
    .min(0)
    .describe('Estimate, made without asking a model. The hub that answers may count otherwise.'),
  estimate: z.literal(true).describe('Always true.'),
});
