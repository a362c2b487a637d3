import { z } from 'zod';
import { limits } from '../limits.ts';
import { JsonMember, keptWord, shownAsJson, sizedList } from '../noun.ts';
import { answeredBy, svcMember } from './paid-answer.ts';

/* A message, the events of a streamed message, and the token estimate, as they are shown. */

export const MessageUsageNoun = z.object({
  input_tokens: z
    .int()
    .describe(
      'Number of tokens of the request, without those that were read from or written to a cache of the hub. 0 if the hub does not state it.',
    ),
  output_tokens: z.int().describe('Number of tokens of the answer. 0 if the hub does not state it.'),
  cache_read_input_tokens: z
    .int()
    .nullable()
    .describe('Number of tokens of the request that were read from a cache of the hub. Null if the hub states none.'),
  cache_creation_input_tokens: z
    .int()
    .nullable()
    .describe('Number of tokens of the request that were written to a cache of the hub. Null if the hub states none.'),
  output_tokens_details: shownAsJson(
    z.object({ thinking_tokens: z.int().describe('Number of tokens of the answer that are thinking.') }),
  )
    .nullable()
    .describe(
      '`{thinking_tokens}`: number of tokens of the answer that are thinking. Null if the hub does not state it.',
    ),
});

export const ModelMessageNoun = z.object({
  id: z.string().describe('`msg_` followed by the task id.'),
  type: z.literal('message').describe('Always `message`.'),
  role: z.literal('assistant').describe('Always `assistant`.'),
  ...answeredBy,
  // Thinking, a text, a refusal and the tool calls. A hub of Anthropic's dialect may give several blocks of thinking and text.
  content: sizedList(JsonMember, 3 + limits.tool_calls_max).describe(
    "Blocks of text, thinking and tool calls, as Anthropic's API spells them. The receipt commits to this list as it stands here.",
  ),
  stop_reason: keptWord(z.enum(['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'refusal'])).describe(
    'Why the answer ended: `end_turn`, `max_tokens`, `stop_sequence`, `tool_use` or `refusal`.',
  ),
  stop_sequence: z
    .string()
    .nullable()
    .describe(
      'Stop sequence that ended the answer, if the request has exactly one. Null if it has several, or if the hub does not state that one ended the answer.',
    ),
  stop_details: shownAsJson(
    z.object({
      type: z.literal('refusal'),
      category: z.null().describe('Always null: the service does not know the category.'),
      explanation: z.null().describe('Always null: an explanation, if there is any, is in the text of the answer.'),
    }),
  )
    .nullable()
    .describe(
      "Details of a refusal, as Anthropic's API spells them. Null unless `stop_reason` is `refusal`: the model refused, or a filter withheld the answer.",
    ),
  usage: MessageUsageNoun.describe(
    'Numbers of tokens of request and answer, as the hub stated them. 0 or null if it states none.',
  ),
  ...svcMember,
});

export const MessageStreamEventNoun = z.object({
  type: z.string().describe('Type of the event: `message_start`, `content_block_delta`, `svc` and the like.'),
  event: JsonMember.describe(
    'The whole event, as Anthropic spells it. One of type `svc` is a `ping` that carries the receipt as `svc`; `message_stop` follows it unless the answer broke off.',
  ),
});

export const MessageTokensNoun = z.object({
  input_tokens: z
    .int()
    .min(0)
    .describe(
      'Estimated number of tokens of the request, computed without a model. The hub that answers may count differently.',
    ),
  estimate: z.literal(true).describe('Always true: `input_tokens` is an estimate.'),
});
