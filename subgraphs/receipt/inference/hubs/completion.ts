import { z } from 'zod';
import { wellFormedText } from '../../../../schema/requests/parse.ts';
import { HubMessage, isText, says } from './message.ts';

const INT32_MAX = 2 ** 31 - 1;
const count = z.int().min(0).max(INT32_MAX);

export const Usage = z.object({ prompt_tokens: count, completion_tokens: count, total_tokens: count });
export type Usage = z.output<typeof Usage>;

export const FinishReason = wellFormedText.max(64).nullable().default(null);

const Choice = z.object({
  index: count,
  message: HubMessage.refine(says, { error: 'says nothing and calls nothing' }),
  finish_reason: FinishReason,
});
type Choice = z.output<typeof Choice>;

/** As much of an OpenAI chat completion as is passed on. What a hub adds to it stays with us. */
export const HubCompletion = z.object({
  choices: z.tuple([Choice], Choice).transform(answered),
  usage: Usage.nullable().default(null),
});
export type HubCompletion = z.output<typeof HubCompletion>;

/** One answer is asked for. More of them go on where they are text, as ever; a receipt commits to the calls of one alone. */
function answered(choices: readonly [Choice, ...Choice[]]): readonly [Choice, ...Choice[]] {
  return choices.every(({ message }) => isText(message)) ? choices : [choices[0]];
}
