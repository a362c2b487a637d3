import { z } from 'zod';
import { nameComponents, Problem } from '../answer-shapes.ts';

/* The last event of a streamed answer that is not whole, as each family of clients reads it. */

/** What is said of the payment, wherever in a stream something goes wrong. Further facts of the error stand beside it. */
const facts = {
  charged: Problem.shape.charged,
  reruns_left: z
    .int()
    .min(0)
    .optional()
    .describe(
      'How many times the same payment, sent again with the same request, still has the work done once more. Absent if no payment was taken, and if the answer did not break off.',
    ),
  hub_said: z
    .object({ code: z.string().optional(), type: z.string().optional(), param: z.string().optional() })
    .optional()
    .describe('What the hub said of it, as far as it may be passed on. Absent if it said nothing.'),
  task_id: z.string().optional().describe('Names the call and its receipt.'),
  verify_url: z.string().optional().describe('Public receipt page.'),
} as const;

const OpenAiError = z.object({
  message: z.string(),
  type: z.string().describe('`server_error`, `invalid_request_error` and the like.'),
  code: z.string().describe('Why the answer is not whole: `hub_broke_off`, `stream_cut_off` and the like.'),
  param: z.string().nullable(),
});

export const ChatFault = z
  .looseObject({ error: OpenAiError, ...facts })
  .describe(
    'In place of `[DONE]`: the answer broke off, or was not recorded. The receipt, if there is one, came before it.',
  );

export const ResponseStreamFault = z
  .looseObject({
    type: z.literal('error'),
    sequence_number: z.int().min(0),
    code: z.string().nullable(),
    message: z.string().nullable(),
    param: z.string().nullable(),
    error: OpenAiError.describe('The same once more, as chats have it.'),
    ...facts,
  })
  .describe('The last event if the answer broke off, after `response.failed`, or if it was not recorded.');

export const MessageStreamFault = z
  .looseObject({
    type: z.literal('error'),
    error: z.object({
      type: z.string().describe('`api_error`, `overloaded_error` and the like.'),
      message: z.string(),
      code: OpenAiError.shape.code,
      param: z.string().nullable(),
    }),
    ...facts,
  })
  .describe('In place of `message_stop`: the answer broke off, or was not recorded.');

nameComponents({
  ChatCompletionFault: ChatFault,
  ResponseStreamFault,
  MessageStreamFault,
});
