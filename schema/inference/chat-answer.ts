import { z } from 'zod';
import { limits } from '../limits.ts';
import { JsonMember, keptWord, sizedList } from '../noun.ts';
import { answeredBy, svcMember, UnixSeconds } from './paid-answer.ts';

/* The answer of a chat as it is shown, whole or in chunks. */

const Arguments = z.string().describe('Arguments of the call: JSON, as the model wrote it.');
const FinishReason = keptWord(z.enum(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']));

const reasoning = {
  reasoning_content: z
    .string()
    .optional()
    .describe('Reasoning of the model, from hubs that name it `reasoning_content`. Null or absent otherwise.'),
  reasoning: z
    .string()
    .optional()
    .describe('Reasoning of the model, from hubs that name it `reasoning`. Null or absent otherwise.'),
  reasoning_details: z
    .array(JsonMember)
    .optional()
    .describe(
      'Reasoning of the model, in parts, in the format of the hub. Some models require the parts back unchanged. Null or absent if there are none.',
    ),
} as const;

export const ChatFunctionCallNoun = z.object({
  name: z.string().describe('Name of the function, as the request gave it.'),
  arguments: Arguments,
});

export const ChatToolCallNoun = z.object({
  id: z.string().describe('Id of the call, by which its result is sent back.'),
  type: z.literal('function').describe('Always `function`.'),
  function: ChatFunctionCallNoun.describe('Function to call, with its arguments.'),
});

export const ChatMessageNoun = z.object({
  role: z.string().describe('Always `assistant`.'),
  content: z
    .string()
    .nullable()
    .describe('Text of the answer. Null if the answer has no text, as with only tool calls, a refusal or reasoning.'),
  tool_calls: sizedList(ChatToolCallNoun, limits.tool_calls_max)
    .optional()
    .describe('Tools that the model calls. Null or absent if it calls none.'),
  refusal: z
    .string()
    .optional()
    .describe('Sentence with which the model refuses to answer. Null or absent if it does not refuse.'),
  ...reasoning,
});

export const ChatChoiceNoun = z.object({
  index: z.int().describe('Always 0: there is one choice.'),
  message: ChatMessageNoun.describe('The answer: its text, tool calls, refusal and reasoning.'),
  finish_reason: FinishReason.nullable().describe(
    'Why the answer ended. If the hub does not say: `tool_calls` with tool calls, otherwise `stop`. Never null.',
  ),
});

/** By REST the details are members of `usage` itself. */
export const ChatUsageNoun = z.object({
  prompt_tokens: z.int().describe('Number of tokens of the request, as the hub stated it.'),
  completion_tokens: z.int().describe('Number of tokens of the answer, as the hub stated it.'),
  total_tokens: z
    .int()
    .describe('Number of tokens of request and answer together, as the hub stated it or, if it did not, their sum.'),
  details: JsonMember.nullable().describe(
    'Other counts of the hub under its own names, such as `prompt_tokens_details` and `completion_tokens_details`. Null if there are none. By REST these are members of `usage`.',
  ),
});

export const ChatCompletionNoun = z.object({
  id: z.string().describe('`chatcmpl-` followed by the task id.'),
  object: z.literal('chat.completion').describe('Always `chat.completion`.'),
  created: UnixSeconds,
  ...answeredBy,
  choices: sizedList(ChatChoiceNoun, 1).describe('The answer: a list of one choice.'),
  usage: ChatUsageNoun.nullable().describe(
    'Numbers of tokens of request and answer. Null if the hub does not state them.',
  ),
  ...svcMember,
});

export const ChatFunctionDeltaNoun = z.object({
  name: z
    .string()
    .optional()
    .describe('Name of the function, in the first chunk of the call. Null or absent in the others.'),
  arguments: z.string().describe('Next piece of the arguments. All pieces together are JSON, as the model wrote it.'),
});

export const ChatToolCallDeltaNoun = z.object({
  index: z.int().describe('Index of the call among the tool calls of the message, from 0.'),
  id: z
    .string()
    .optional()
    .describe('Id of the tool call, in the first chunk of the call. Null or absent in the others.'),
  type: z
    .literal('function')
    .optional()
    .describe('Always `function`, in the first chunk of the call. Null or absent in the others.'),
  function: ChatFunctionDeltaNoun.describe('What this chunk adds to the name and the arguments of the call.'),
});

export const ChatDeltaNoun = z.object({
  role: z.string().optional().describe('Always `assistant`, in the first chunk. Null or absent in the others.'),
  content: z.string().optional().describe('Text that this chunk adds. Null or absent if it adds none.'),
  refusal: z.string().optional().describe('Text that this chunk adds to the refusal. Null or absent if it adds none.'),
  reasoning_content: z
    .string()
    .optional()
    .describe('Text that this chunk adds to `reasoning_content`. Null or absent if it adds none.'),
  reasoning: z
    .string()
    .optional()
    .describe('Text that this chunk adds to `reasoning`. Null or absent if it adds none.'),
  reasoning_details: z
    .array(JsonMember)
    .optional()
    .describe(
      'Entries that this chunk adds to `reasoning_details`. A `reasoning.text` or `reasoning.summary` with the `index` of the previous entry continues its text. Null or absent if it adds none.',
    ),
  tool_calls: sizedList(ChatToolCallDeltaNoun, limits.tool_calls_max)
    .optional()
    .describe('What this chunk adds to the tool calls. Null or absent if nothing.'),
});

export const ChatChunkChoiceNoun = z.object({
  index: z.int().describe('Always 0: there is one choice.'),
  delta: ChatDeltaNoun.describe('What this chunk adds to the answer.'),
  finish_reason: FinishReason.nullable().describe(
    'Why the answer ended. Null before the last chunk of the choice, and if the answer broke off.',
  ),
});

export const ChatCompletionChunkNoun = z.object({
  id: z.string().describe('`chatcmpl-` followed by the task id. The same in every chunk.'),
  object: z.literal('chat.completion.chunk').describe('Always `chat.completion.chunk`.'),
  created: UnixSeconds,
  ...answeredBy,
  choices: sizedList(ChatChunkChoiceNoun, 1).describe(
    'The choice that this chunk adds to. Empty if the chunk has only `usage` and `svc`.',
  ),
  usage: ChatUsageNoun.nullable()
    .optional()
    .describe(
      'Numbers of tokens of request and answer, in the last chunk. Null in the others, and if the hub does not state them.',
    ),
  svc: svcMember.svc.optional().describe('The signed receipt, in the last chunk. Null in the others.'),
});
