import { z } from 'zod';
import { limits } from '../../../../schema/limits.ts';
import { wellFormedText } from '../../../../schema/requests/parse.ts';
import { Usage } from './completion.ts';

const Name = wellFormedText.max(limits.tool_call_id_chars_max);

/** Some hubs say all of a call at once, and leave out which one of several it is. */
const CallDelta = z.object({
  index: z
    .int()
    .min(0)
    .max(limits.tool_calls_max - 1)
    .nullish(),
  id: Name.nullish(),
  function: z.object({ name: Name.nullish(), arguments: z.string().nullish() }).nullish(),
});
export type CallDelta = z.output<typeof CallDelta>;

const Delta = z.object({
  content: z.string().nullish(),
  refusal: z.string().nullish(),
  tool_calls: z.array(CallDelta).max(limits.tool_calls_max).nullish(),
});
export type Delta = z.output<typeof Delta>;

export function bytesIn({ content, refusal, tool_calls }: Delta): number {
  const calls = (tool_calls ?? []).flatMap(({ id, function: called }) => [id, called?.name, called?.arguments]);
  return [content, refusal, ...calls].reduce((sum: number, text) => sum + Buffer.byteLength(text ?? ''), 0);
}

/** As much of an OpenAI chunk as is passed on. One answer is asked for, so there is one choice; some chunks have none. */
const HubChunk = z.object({
  choices: z
    .array(
      z.object({
        index: z.literal(0).default(0),
        delta: Delta.nullish(),
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
      readonly delta: Delta | null;
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
    delta: choice ? (choice.delta ?? {}) : null,
    finish_reason: choice?.finish_reason ?? null,
    usage: usage ?? null,
  };
}
