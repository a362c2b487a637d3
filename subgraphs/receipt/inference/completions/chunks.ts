import type { Context } from '../../../context.ts';
import type { Piece } from '../../../piece.ts';
import type { Charged, ChargedStream } from '../../../sale.ts';
import type { ChatChunkChoice, ChatCompletionChunk, ChatDelta } from './chunk.type.ts';
import type { ChatAnswer } from './completion.paid.ts';
import { BROKE_OFF } from './completion.stream.ts';
import { usageOf } from './completion.type.ts';
import { svcOf } from './svc.ts';

/** A stream that cannot be recorded ends with the reason: as an event, since the graph hides what a source throws. */
export type ChunkEvent = ChatCompletionChunk | Error;

/**
 * A paid stream as OpenAI cuts it: who speaks, what is said and called, how it ended. The last chunk brings what it cost
 * and the receipt: with `usage_apart` that is one more without choices, as whoever asks for usage expects it, and nobody else.
 */
export async function* chunksOf(
  charged: ChargedStream<ChatAnswer>,
  context: Context,
  usage_apart: boolean,
): AsyncGenerator<ChunkEvent> {
  const chunk = chunkOf(charged.begun);
  yield chunk([said({ role: 'assistant', content: '' })]);
  for await (const piece of charged.pieces) yield chunk([said(deltaOf(piece))]);
  let recorded: Charged<ChatAnswer>;
  try {
    recorded = await charged.recorded;
  } catch (error) {
    yield error instanceof Error ? error : new Error('the stream was not recorded', { cause: error });
    return;
  }
  const { choices, usage } = recorded.answer;
  const ends = choices.map(({ index, finish_reason }) => ({ ...said({}), index, finishReason: finish_reason }));
  const broke_off = ends.some(({ finishReason }) => finishReason === BROKE_OFF);
  // An end that is a fault is told together with the receipt, which says the same.
  const apart = usage_apart && !broke_off;
  if (apart) yield chunk(ends);
  yield { ...chunk(apart ? [] : ends), usage: usageOf(usage), svc: svcOf(recorded, context).svc };
}

function chunkOf({ id, created, model, hub }: ChatAnswer) {
  return (choices: ChatChunkChoice[]): ChatCompletionChunk => ({
    id,
    object: 'chat.completion.chunk',
    created,
    model,
    hub,
    choices,
    usage: null,
    svc: null,
  });
}

function deltaOf(piece: Piece): Partial<ChatDelta> {
  if (typeof piece === 'string') return { content: piece };
  if ('refusal' in piece) return piece;
  const { call: index, id, name, arguments: given } = piece;
  return { toolCalls: [{ index, id, type: id === null ? null : 'function', function: { name, arguments: given } }] };
}

const nothing: ChatDelta = { role: null, content: null, refusal: null, toolCalls: null };

function said(delta: Partial<ChatDelta>): ChatChunkChoice {
  return { index: 0, delta: { ...nothing, ...delta }, finishReason: null };
}
