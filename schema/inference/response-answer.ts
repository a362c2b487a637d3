import { z } from 'zod';
import { limits } from '../limits.ts';
import { JsonMember, SafeIntMember, sizedList, word } from '../noun.ts';
import type { Words } from '../words.ts';
import { ChatUsageNoun } from './chat-answer.ts';
import { answeredBy, svcMember } from './paid-answer.ts';

/* A response, and the events of a streamed response, as they are shown, and how an answer may have ended. */

const responseStatuses = {
  graph: 'ResponseStatus',
  description: 'Whether an answer is complete, was cut short or broke off.',
  meanings: {
    completed: 'The answer is complete.',
    incomplete: 'The answer was cut short: it reached its maximum number of tokens, or a filter withheld the rest.',
    failed: 'The answer broke off before it was complete. The part that arrived is included.',
  },
} as const satisfies Words;

const Empty = z.array(JsonMember);

/** One type for all parts: members that a kind does not have are null on the graph, and left out by REST. */
export const ResponseContentNoun = z.object({
  type: z.string().describe('`output_text`, `refusal` or `reasoning_text`. Members of the other kinds are null.'),
  text: z.string().nullable().describe('Text of the answer or of the reasoning. Null if the part is a refusal.'),
  annotations: Empty.nullable().describe('Always empty. Null unless the part is of type `output_text`.'),
  refusal: z
    .string()
    .nullable()
    .describe('Sentence in which the model refuses to answer. Null unless the part is of type `refusal`.'),
});

/** One type for all items, as for all parts. */
export const ResponseItemNoun = z.object({
  id: z.string().describe('Id of the item within the answer.'),
  type: z.string().describe('`reasoning`, `message` or `function_call`. Members of the other kinds are null.'),
  status: z.string().describe('`completed`, or `incomplete` if it was broken off.'),
  role: z.string().nullable().describe('Always `assistant`. Null unless the item is a message.'),
  summary: Empty.nullable().describe(
    'Always empty: the reasoning is in content. Null unless the item is of type `reasoning`.',
  ),
  encrypted_content: z
    .string()
    .nullable()
    .describe(
      'The whole reasoning, to be sent back unchanged. Null unless the item is of type `reasoning` and `include` names `reasoning.encrypted_content`.',
    ),
  content: sizedList(ResponseContentNoun, 1)
    .nullable()
    .describe('Parts of the message, or of the reasoning. Null if the item is a call.'),
  call_id: z
    .string()
    .nullable()
    .describe('Id with which the result of the call is sent back. Null unless the item is a call.'),
  name: z
    .string()
    .nullable()
    .describe('Name of the function that is called, as the request gave it. Null unless the item is a call.'),
  arguments: z
    .string()
    .nullable()
    .describe('Arguments of the call: JSON, as the model wrote it. Null unless the item is a call.'),
});

export const ResponseFaultNoun = z.object({
  code: z.literal('server_error').describe('Always `server_error`.'),
  message: z.string().describe('Why the answer failed, in a sentence.'),
});

export const ResponseIncompletionNoun = z.object({
  reason: z
    .enum(['max_output_tokens', 'content_filter'])
    .describe(
      'Why the answer is incomplete. `max_output_tokens`: it reached its token limit. `content_filter`: it was filtered.',
    ),
});

const { prompt_tokens, completion_tokens, total_tokens } = ChatUsageNoun.shape;

/** Each number under both names that clients know. By REST the details are members of `usage` itself. */
export const ResponseUsageNoun = z.object({
  prompt_tokens,
  completion_tokens,
  total_tokens,
  input_tokens: prompt_tokens,
  output_tokens: completion_tokens,
  details: JsonMember.nullable().describe(
    'Other counts of the hub under its own names, such as `input_tokens_details` and `output_tokens_details`. Null if there are none. By REST these are members of `usage`.',
  ),
});

export const ModelResponseNoun = z.object({
  id: z.string().describe('`resp_` followed by the task id.'),
  object: z.literal('response').describe('Always `response`.'),
  created_at: SafeIntMember.describe('Time of the answer, in Unix seconds.'),
  ...answeredBy,
  status: word(responseStatuses),
  error: ResponseFaultNoun.nullable().describe('Why the answer failed. Null if it did not fail.'),
  incomplete_details: ResponseIncompletionNoun.nullable().describe(
    '`{reason}`: why the answer was cut short, `max_output_tokens` or `content_filter`. Null if it was not cut short.',
  ),
  // Reasoning and a message and, at most, the calls.
  output: sizedList(ResponseItemNoun, 1 + limits.tool_calls_max).describe(
    'Items of the answer, in order: reasoning, messages and function calls.',
  ),
  output_text: z.string().describe('Text of all messages of the answer, joined.'),
  usage: ResponseUsageNoun.nullable().describe(
    'Numbers of tokens of request and answer. Null if the hub does not state them.',
  ),
  ...svcMember,
});

export const ResponseStreamEventNoun = z.object({
  type: z.string().describe('Type of the event: `response.created`, `response.output_text.delta` and the like.'),
  sequence_number: z.int().describe('Number of the event in the stream, from 0 without gaps.'),
  event: JsonMember.describe('The whole event, as OpenAI spells it. The last one has the response with its receipt.'),
});
