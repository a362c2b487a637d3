import { z } from 'zod';
import { wellFormedText } from '../../../../schema/requests/parse.ts';

const INT32_MAX = 2 ** 31 - 1;
const count = z.int().min(0).max(INT32_MAX);

export const Usage = z.object({ prompt_tokens: count, completion_tokens: count, total_tokens: count });
export type Usage = z.output<typeof Usage>;

/** As much of an OpenAI chat completion as is passed on. What a hub adds to it stays with us. */
const HubCompletion = z.object({
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

export type Reading =
  | { readonly kind: 'completion'; readonly completion: HubCompletion }
  | { readonly kind: 'not_json' }
  | { readonly kind: 'not_a_completion' };

/** A hub is not trusted: its answer is parsed, checked and copied member by member. */
export function readCompletion(body: Uint8Array): Reading {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return { kind: 'not_json' };
  }
  const parsed = HubCompletion.safeParse(value);
  return parsed.success ? { kind: 'completion', completion: parsed.data } : { kind: 'not_a_completion' };
}
