import { z } from 'zod';
import { wellFormedText } from '../../../../schema/requests/parse.ts';
import { Usage } from './completion.ts';

/** As much of an OpenAI chunk as is passed on. One answer is asked for, so there is one choice; some chunks have none. */
const HubChunk = z.object({
  choices: z
    .array(
      z.object({
        index: z.literal(0).default(0),
        delta: z.object({ content: z.string().nullish() }).nullish(),
        finish_reason: wellFormedText.max(64).nullish(),
      }),
    )
    .max(1),
  usage: Usage.nullish(),
  /** Hubs that fail in the midst of a stream say so in it: that is not a chunk. */
  error: z.null().optional(),
});

export type ChunkReading =
  | {
      readonly kind: 'chunk';
      /** Null where it says nothing of the answer. */
      readonly text: string | null;
      readonly finish_reason: string | null;
      readonly usage: Usage | null;
    }
  | { readonly kind: 'not_json' }
  | { readonly kind: 'not_a_chunk' };

/** A hub is not trusted: each event is parsed, checked and copied member by member. */
export function readChunk(data: string): ChunkReading {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return { kind: 'not_json' };
  }
  const parsed = HubChunk.safeParse(value);
  if (!parsed.success) return { kind: 'not_a_chunk' };
  const { choices, usage } = parsed.data;
  const [choice] = choices;
  return {
    kind: 'chunk',
    text: choice ? (choice.delta?.content ?? '') : null,
    finish_reason: choice?.finish_reason ?? null,
    usage: usage ?? null,
  };
}
