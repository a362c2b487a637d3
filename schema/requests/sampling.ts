import { z } from 'zod';
import { type JsonObject, present } from '../canonical-json.ts';
import { limits } from '../limits.ts';
import { wellFormedText } from './parse.ts';

const penalty = z.number().min(-limits.penalty_max).max(limits.penalty_max).nullish();
const Stop = wellFormedText.min(1).max(limits.stop_text_chars_max);

const TopP = z.number().min(0).max(1).nullish();
const Effort = z
  .enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])
  .nullish()
  .describe('Passed on where the hub says that the model reasons; elsewhere it changes nothing.');

/** How an answer is drawn, beside `temperature`: said to the hub as it is, and left out where nothing is said. */
export const samplingMembers = {
  top_p: TopP,
  stop: z
    .union([Stop.transform(text => [text]), z.array(Stop).min(1).max(limits.stop_texts_max)])
    .nullish()
    .describe('A text, or up to four.'),
  seed: z.int().nullish(),
  presence_penalty: penalty,
  frequency_penalty: penalty,
  reasoning_effort: Effort,
} as const;

export type Sampling = { readonly [M in keyof typeof samplingMembers]?: z.output<(typeof samplingMembers)[M]> };

export function canonicalSampling(given: Sampling): JsonObject {
  const { top_p, stop, seed, presence_penalty, frequency_penalty, reasoning_effort } = given;
  return present({ top_p, stop, seed, presence_penalty, frequency_penalty, reasoning_effort });
}
