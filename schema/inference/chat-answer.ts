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
    .describe('Reasoning of the model, from hubs that name it `reasoning_content`. Null otherwise.'),
  reasoning: z
    .string()
    .optional()
    .describe('Reasoning of the model, from hubs that name it `reasoning`. Null otherwise.'),
  reasoning_details: z
    .array(JsonMember)
    .optional()
    .describe(
      'Reasoning of the model, part by part, as its hub spells it. Some models require it back unchanged. Null if there is none.',
    ),
} as const;

export const ChatFunctionCallNoun = z.object({
  name: z.string().describe('Name of the function, as the request gave it.'),
  arguments: Arguments,
});

export const ChatToolCallNoun = z.object({
  id: z.string().describe('Id of the call, by which its result is sent back.'),
  type: z.literal('function').describe('Always `function`.'),
  function: ChatFunctionCallNoun.describe('Function to call.'),
});

export const ChatMessageNoun = z.object({
  role: z.string().describe('Always `assistant`.'),
  content: z
    .string()
    .nullable()
    .describe('Text of the answer. Null if the answer has no text, only tool calls, a refusal or reasoning.'),
  tool_calls: sizedList(ChatToolCallNoun, limits.tool_calls_max)
    .optional()
    .describe('Tools that the model calls. Null if none.'),
  refusal: z.string().optional().describe('What the model says if it refuses. Null otherwise.'),
  ...reasoning,
});

export const ChatChoiceNoun = z.object({
  index: z.int().describe('Always 0.'),
  message: ChatMessageNoun.describe('The answer itself.'),
  finish_reason: FinishReason.nullable().describe('Why the answer ended.'),
});

/** By REST the details are members of `usage` itself. */
export const ChatUsageNoun = z.object({
  prompt_tokens: z.int().describe('Tokens of the request, as the hub stated them.'),
  completion_tokens: z.int().describe('Tokens of the answer, as the hub stated them.'),
  total_tokens: z.int().describe('Tokens of request and answer, as the hub stated them.'),
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
  usage: ChatUsageNoun.nullable().describe('Numbers of tokens. Null if the hub does not count.'),
  ...svcMember,
});

export const ChatFunctionDeltaNoun = z.object({
  name: z.string().optional().describe('Name of the function, in the first chunk of the call. Null in the others.'),
  arguments: z.string().describe('Piece of the arguments of the call: JSON, as the model wrote it.'),
});

export const ChatToolCallDeltaNoun = z.object({
  index: z.int().describe('Index of the call within the message, from 0.'),
  id: z.string().optional().describe('Id of the call, in its first chunk. Null in the others.'),
  type: z
    .literal('function')
    .optional()
    .describe('Always `function`, in the first chunk of the call. Null in the others.'),
  function: ChatFunctionDeltaNoun.describe('What this chunk adds to the call.'),
});

export const ChatDeltaNoun = z.object({
  role: z.string().optional().describe('Always `assistant`, in the first chunk. Null in the others.'),
  content: z.string().optional().describe('What this chunk adds to the text. Null if nothing.'),
  refusal: z.string().optional().describe('What this chunk adds to the refusal. Null if nothing.'),
  reasoning_content: z.string().optional().describe('What this chunk adds to `reasoning_content`. Null if nothing.'),
  reasoning: z.string().optional().describe('What this chunk adds to `reasoning`. Null if nothing.'),
  reasoning_details: z
    .array(JsonMember)
    .optional()
    .describe(
      'What this chunk adds to `reasoning_details`: a `reasoning.text` or `reasoning.summary` with the same `index` as the entry before it continues that one. Null if nothing.',
    ),
  tool_calls: sizedList(ChatToolCallDeltaNoun, limits.tool_calls_max)
    .optional()
    .describe('What this chunk adds to the calls. Null if nothing.'),
});

export const ChatChunkChoiceNoun = z.object({
  index: z.int().describe('Always 0.'),
  delta: ChatDeltaNoun.describe('What this chunk adds.'),
  finish_reason: FinishReason.nullable().describe(
    'Why the choice ended. Null until the last chunk of the choice, and if the answer broke off.',
  ),
});

export const ChatCompletionChunkNoun = z.object({
  id: z.string().describe('`chatcmpl-` followed by the task id. The same in every chunk.'),
  object: z.literal('chat.completion.chunk').describe('Always `chat.completion.chunk`.'),
  created: UnixSeconds,
  ...answeredBy,
  choices: sizedList(ChatChunkChoiceNoun, 1).describe(
    'Choice that this chunk adds to. Empty if the chunk carries only usage and receipt.',
  ),
  usage: ChatUsageNoun.nullable()
    .optional()
    .describe('Numbers of tokens, in the last chunk. Null in the others, and if the hub does not count.'),
  svc: svcMember.svc.optional().describe('The signed receipt, in the last chunk. Null in the others.'),
});
