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
      'Number of reruns left: how often the same payment with the same request still has the work done again. Absent if no payment was made, or if the answer did not break off.',
    ),
  hub_said: z
    .object({
      code: z.string().optional().describe('Error code of the hub.'),
      type: z.string().optional().describe('Error type of the hub.'),
      param: z.string().optional().describe('Member that the hub names.'),
    })
    .optional()
    .describe("The hub's own words for the error, as far as they may be passed on. Absent if there are none."),
  task_id: z.string().optional().describe('Id of the call and its receipt.'),
  verify_url: z.string().optional().describe('URL of the public page of the receipt.'),
} as const;

const OpenAiError = z.object({
  message: z.string().describe('Sentence about the error.'),
  type: z.string().describe('Category of the error, such as `server_error`.'),
  code: z.string().describe('Code of the error, such as `hub_broke_off` or `stream_cut_off`.'),
  param: z.string().nullable().describe(FAULTY_MEMBER),
});

export const ChatFault = z
  .looseObject({ error: OpenAiError.describe('The error.'), ...facts })
  .describe(
    'Sent in place of `[DONE]` if the answer broke off or was not recorded. The receipt, if there is one, is in an earlier event.',
  );

export const ResponseStreamFault = z
  .looseObject({
    type: z.literal('error'),
    sequence_number: z.int().min(0).describe('Number of the event, from 0.'),
    code: z.string().nullable().describe('Code of the error.'),
    message: z.string().nullable().describe('Sentence about the error.'),
    param: z.string().nullable().describe(FAULTY_MEMBER),
    error: OpenAiError.describe('The same error in the form of a chat.'),
    ...facts,
  })
  .describe('Last event if the answer broke off (after `response.failed`) or was not recorded.');

export const MessageStreamFault = z
  .looseObject({
    type: z.literal('error'),
    error: z
      .object({
        type: z.string().describe('Kind of the error, such as `api_error` or `overloaded_error`.'),
        message: z.string().describe('Sentence about the error.'),
        code: OpenAiError.shape.code,
        param: z.string().nullable().describe(FAULTY_MEMBER),
      })
      .describe('The error.'),
    ...facts,
  })
  .describe('Sent in place of `message_stop` if the answer broke off or was not recorded.');

nameComponents({
  ChatCompletionFault: ChatFault,
  ResponseStreamFault,
  MessageStreamFault,
});
