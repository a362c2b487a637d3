import { z } from 'zod';
import { FAULTY_MEMBER, nameComponents, Problem } from '../answer-shapes.ts';

/* The last event of an incomplete streamed answer, in the form of each family of clients. */

/** Facts about the payment in each error of a stream. An error may have more facts. */
const facts = {
  charged: Problem.shape.charged,
  reruns_left: z
    .int()
    .min(0)
    .optional()
    .describe(
      'How many more times the work is done again if the same request is sent with the same payment. Absent if no payment was made, or if the answer did not break off.',
    ),
  hub_said: z
    .object({
      code: z.string().optional().describe('Error code that the hub sent. Absent if it sent none.'),
      type: z.string().optional().describe('Error type that the hub sent. Absent if it sent none.'),
      param: z
        .string()
        .optional()
        .describe('Member of the request that the hub names as wrong. Absent if it names none.'),
    })
    .optional()
    .describe(
      'Error of the hub itself, if it may be passed on: its code, its type, and the member of the request that it names as wrong. Absent if there is none.',
    ),
  task_id: z.string().optional().describe('Task id of the call and of its receipt. Absent if the error names none.'),
  verify_url: z.string().optional().describe('URL of the public page of the receipt. Absent if the error names none.'),
} as const;

const OpenAiError = z.object({
  message: z.string().describe('What went wrong, in a sentence.'),
  type: z.string().describe('Category of the error, such as `server_error`.'),
  code: z.string().describe('Code of the error, such as `hub_broke_off` or `stream_cut_off`.'),
  param: z.string().nullable().describe(FAULTY_MEMBER),
});

export const ChatFault = z
  .looseObject({ error: OpenAiError.describe('The error, in the form of this API.'), ...facts })
  .describe(
    'Sent in place of `[DONE]` if the answer broke off or was not recorded. The receipt, if there is one, is in an earlier event.',
  );

export const ResponseStreamFault = z
  .looseObject({
    type: z.literal('error'),
    sequence_number: z.int().min(0).describe('Number of the event, from 0.'),
    code: z.string().nullable().describe('Code of the error, the same as in `error`. The service always sets it.'),
    message: z.string().nullable().describe('What went wrong, in a sentence. The service always sets it.'),
    param: z.string().nullable().describe(FAULTY_MEMBER),
    error: OpenAiError.describe('The same error in the form of the Chat Completions API.'),
    ...facts,
  })
  .describe('Error that ends the stream if the answer broke off (after `response.failed`) or could not be recorded.');

export const MessageStreamFault = z
  .looseObject({
    type: z.literal('error'),
    error: z
      .object({
        type: z
          .string()
          .describe('Kind of the error as Anthropic names it, such as `api_error` or `overloaded_error`.'),
        message: z.string().describe('What went wrong, in a sentence.'),
        code: OpenAiError.shape.code,
        param: z.string().nullable().describe(FAULTY_MEMBER),
      })
      .describe('The error, in the form of this API.'),
    ...facts,
  })
  .describe('Sent in place of `message_stop` if the answer broke off or was not recorded.');

nameComponents({
  ChatCompletionFault: ChatFault,
  ResponseStreamFault,
  MessageStreamFault,
});
