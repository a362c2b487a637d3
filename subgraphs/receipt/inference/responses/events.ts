import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { type CallPiece, type Channel, channelOf, type Piece } from '../../../piece.ts';
import { type CallItem, type ContentPart, itemIds, type OutputItem } from './output.ts';

/** An event as OpenAI spells it, but for its number. */
export type UnnumberedEvent = JsonObject & { readonly type: string };

interface Place {
  readonly item_id: string;
  readonly output_index: number;
}

const parts = {
  text: { type: 'output_text', text: '', annotations: [] },
  refusal: { type: 'refusal', refusal: '' },
} as const satisfies Record<string, ContentPart>;

/**
 * An answer in the events of the Responses API: each item and part is announced before its first piece, and comes whole
 * at the end. The places are those of the list that the receipt commits to: all in the order in which they began.
 */
export class OutputEvents {
  readonly #task_id: string;
  readonly #items = new Map<'message' | number, Place>();
  readonly #parts: Exclude<Channel, number>[] = [];

  constructor(task_id: string) {
    this.#task_id = task_id;
  }

  *of(piece: Piece): Generator<UnnumberedEvent> {
    const channel = channelOf(piece);
    if (typeof piece === 'object' && 'call' in piece) yield* this.#callOf(piece);
    else yield* this.#textOf(channel as Exclude<Channel, number>, typeof piece === 'string' ? piece : piece.refusal);
  }

  /** What came piece by piece, whole; and what came without a piece of its own. */
  *ends(output: readonly OutputItem[]): Generator<UnnumberedEvent> {
    for (const [output_index, item] of output.entries()) {
      const at = { item_id: item.id, output_index };
      if (item.type === 'function_call') {
        yield { type: 'response.function_call_arguments.done', ...at, name: item.name, arguments: item.arguments };
      } else {
        if (!this.#items.has('message')) yield* this.#begin('message');
        for (const part of item.content) {
          const channel = part.type === 'refusal' ? 'refusal' : 'text';
          if (!this.#parts.includes(channel)) yield this.#beginPart(channel, at);
          yield* partEnds(part, { ...at, content_index: this.#parts.indexOf(channel) });
        }
      }
      yield { type: 'response.output_item.done', output_index, item };
    }
  }

  *#textOf(channel: Exclude<Channel, number>, delta: string): Generator<UnnumberedEvent> {
    if (!this.#items.has('message')) yield* this.#begin('message');
    const at = this.#at('message');
    if (!this.#parts.includes(channel)) yield this.#beginPart(channel, at);
    const place = { ...at, content_index: this.#parts.indexOf(channel) };
    if (channel === 'refusal') yield { type: 'response.refusal.delta', ...place, delta };
    else yield { type: 'response.output_text.delta', ...place, delta, logprobs: [] };
  }

  *#callOf({ call, id, name, arguments: delta }: CallPiece): Generator<UnnumberedEvent> {
    if (!this.#items.has(call)) yield* this.#begin(call, { call_id: id ?? '', name: name ?? '', arguments: '' });
    if (delta !== '') yield { type: 'response.function_call_arguments.delta', ...this.#at(call), delta };
  }

  *#begin(
    key: 'message' | number,
    call?: Pick<CallItem, 'call_id' | 'name' | 'arguments'>,
  ): Generator<UnnumberedEvent> {
    const item_id = key === 'message' ? itemIds.message(this.#task_id) : itemIds.call(this.#task_id, key);
    const place = { item_id, output_index: this.#items.size };
    this.#items.set(key, place);
    const kind: JsonObject = call
      ? { type: 'function_call', ...call }
      : { type: 'message', role: 'assistant', content: [] };
    const item = { id: item_id, status: 'in_progress', ...kind };
    yield { type: 'response.output_item.added', output_index: place.output_index, item };
  }

  #beginPart(channel: Exclude<Channel, number>, at: Place): UnnumberedEvent {
    const content_index = this.#parts.push(channel) - 1;
    return { type: 'response.content_part.added', ...at, content_index, part: parts[channel] };
  }

  #at(key: 'message' | number): Place {
    const place = this.#items.get(key);
    if (!place) throw new Error(`${key} has not begun`);
    return place;
  }
}

function* partEnds(part: ContentPart, place: Place & { readonly content_index: number }): Generator<UnnumberedEvent> {
  if (part.type === 'refusal') yield { type: 'response.refusal.done', ...place, refusal: part.refusal };
  else yield { type: 'response.output_text.done', ...place, text: part.text, logprobs: [] };
  yield { type: 'response.content_part.done', ...place, part };
}

/** Each event with its place in the stream. */
export function numbered(): (event: UnnumberedEvent) => UnnumberedEvent {
  let next = 0;
  return ({ type, ...event }) => ({ type, sequence_number: next++, ...event });
}
