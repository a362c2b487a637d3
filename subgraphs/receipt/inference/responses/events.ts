import type { JsonObject } from '../../../../schema/canonical-json.ts';
import type { CallPiece, Channel, Piece } from '../../../piece.ts';
import { type ContentPart, itemIds, type OutputItem, type ReasoningPart } from './output.ts';

/** An event with OpenAI's member names, without its `sequence_number`. */
export type UnnumberedEvent = JsonObject & { readonly type: string };

interface Place {
  readonly item_id: string;
  readonly output_index: number;
}

/** Channels of text: parts of the message, or of the reasoning. */
type TextChannel = Extract<Channel, 'text' | 'refusal' | 'reasoning'>;
type ItemKey = 'message' | 'reasoning' | number;

/** By channel: the item to which it belongs, the type of the event for each of its pieces, and its part before the first piece. */
const channels = {
  text: {
    item: 'message',
    delta: 'response.output_text.delta',
    part: { type: 'output_text', text: '', annotations: [] },
  },
  refusal: { item: 'message', delta: 'response.refusal.delta', part: { type: 'refusal', refusal: '' } },
  reasoning: { item: 'reasoning', delta: 'response.reasoning_text.delta', part: { type: 'reasoning_text', text: '' } },
} as const satisfies Record<
  TextChannel,
  { readonly item: ItemKey; readonly delta: string; readonly part: ContentPart | ReasoningPart }
>;

const channelsOfParts = {
  output_text: 'text',
  refusal: 'refusal',
  reasoning_text: 'reasoning',
} as const satisfies Record<(ContentPart | ReasoningPart)['type'], TextChannel>;

/** Items as they are announced, without their content. */
const begun = {
  message: { type: 'message', role: 'assistant', content: [] },
  reasoning: { type: 'reasoning', summary: [], content: [] },
} as const satisfies Record<Exclude<ItemKey, number>, JsonObject>;

/**
 * Translates the pieces of an answer to events of the Responses API. Each item and part is announced before its first piece, and is sent
 * whole at the end. The indexes are those of the list to which the receipt commits, where all are in the order in which they began.
 */
export class OutputEvents {
  readonly #task_id: string;
  readonly #items = new Map<ItemKey, Place>();
  /** Parts of each item, in the order in which they began. */
  readonly #parts = new Map<ItemKey, TextChannel[]>();

  constructor(task_id: string) {
    this.#task_id = task_id;
  }

  *of(piece: Piece): Generator<UnnumberedEvent> {
    if (typeof piece === 'string') yield* this.#textOf('text', piece);
    else if ('call' in piece) yield* this.#callOf(piece);
    else if ('refusal' in piece) yield* this.#textOf('refusal', piece.refusal);
    else if (!('reasoning' in piece)) yield* this.#textOf('text', piece.text);
    else if (piece.text !== '') yield* this.#textOf('reasoning', piece.text);
  }

  /** Events at the end of an answer: each item and part whole, including those that had no piece. */
  *ends(output: readonly OutputItem[]): Generator<UnnumberedEvent> {
    for (const [output_index, item] of output.entries()) {
      const at = { item_id: item.id, output_index };
      if (item.type === 'function_call') {
        yield { type: 'response.function_call_arguments.done', ...at, name: item.name, arguments: item.arguments };
      } else {
        if (item.content.length === 0 && !this.#items.has(item.type)) yield this.#begin(item.type, begun[item.type]);
        for (const part of item.content) {
          const channel = channelsOfParts[part.type];
          yield* this.#begun(channel);
          yield* partEnds(part, { ...at, content_index: this.#partsOf(channel).indexOf(channel) });
        }
      }
      yield { type: 'response.output_item.done', output_index, item };
    }
  }

  *#textOf(channel: TextChannel, delta: string): Generator<UnnumberedEvent> {
    yield* this.#begun(channel);
    const { item, delta: type } = channels[channel];
    const place = { ...this.#at(item), content_index: this.#partsOf(channel).indexOf(channel) };
    yield { type, ...place, delta, ...(channel === 'text' ? { logprobs: [] } : {}) };
  }

  *#callOf({ call, id, name, arguments: delta }: CallPiece): Generator<UnnumberedEvent> {
    if (!this.#items.has(call))
      yield this.#begin(call, { type: 'function_call', call_id: id ?? '', name: name ?? '', arguments: '' });
    if (delta !== '') yield { type: 'response.function_call_arguments.delta', ...this.#at(call), delta };
  }

  /** Announces the item and the part of a channel, unless that was done before. */
  *#begun(channel: TextChannel): Generator<UnnumberedEvent> {
    const { item, part } = channels[channel];
    if (!this.#items.has(item)) yield this.#begin(item, begun[item]);
    const parts = this.#partsOf(channel);
    if (parts.includes(channel)) return;
    const content_index = parts.push(channel) - 1;
    yield { type: 'response.content_part.added', ...this.#at(item), content_index, part };
  }

  #begin(key: ItemKey, kind: JsonObject): UnnumberedEvent {
    const id = typeof key === 'number' ? itemIds.call(this.#task_id, key) : itemIds[key](this.#task_id);
    const output_index = this.#items.size;
    this.#items.set(key, { item_id: id, output_index });
    return { type: 'response.output_item.added', output_index, item: { id, status: 'in_progress', ...kind } };
  }

  #partsOf(channel: TextChannel): TextChannel[] {
    const { item } = channels[channel];
    const parts = this.#parts.get(item) ?? [];
    this.#parts.set(item, parts);
    return parts;
  }

  #at(key: ItemKey): Place {
    const place = this.#items.get(key);
    if (!place) throw new Error(`${key} has not begun`);
    return place;
  }
}

function* partEnds(
  part: ContentPart | ReasoningPart,
  place: Place & { readonly content_index: number },
): Generator<UnnumberedEvent> {
  switch (part.type) {
    case 'refusal':
      yield { type: 'response.refusal.done', ...place, refusal: part.refusal };
      break;
    case 'reasoning_text':
      yield { type: 'response.reasoning_text.done', ...place, text: part.text };
      break;
    default:
      yield { type: 'response.output_text.done', ...place, text: part.text, logprobs: [] };
  }
  yield { type: 'response.content_part.done', ...place, part };
}

/** Returns a function that adds to each event its `sequence_number` in the stream, from 0. */
export function eventNumbering(): (event: UnnumberedEvent) => UnnumberedEvent {
  let next = 0;
  return ({ type, ...event }) => ({ type, sequence_number: next++, ...event });
}
