import { z } from 'zod';
import { wellFormedText } from '../../../../schema/requests/parse.ts';

const INT32_MAX = 2 ** 31 - 1;
const count = z.int().min(0).max(INT32_MAX);

export const Usage = z.object({ prompt_tokens: count, completion_tokens: count, total_tokens: count });
export type Usage = z.output<typeof Usage>;

/** As much of an OpenAI chat completion as is passed on. What a hub adds to it stays with us. */
export const HubCompletion = z.object({
  choices: z
    .array(
      z.object({
        index: count,
        message: z.object({ role: z.literal('assistant'), content: wellFormedText }),
        finish_reason: wellFormedText.max(64).nullable().default(null),
      }),
    )
    .min(1),
  usage: Usage.nullable().default(null),
});
export type HubCompletion = z.output<typeof HubCompletion>;
