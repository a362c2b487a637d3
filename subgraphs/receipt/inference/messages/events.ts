import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { type Channel, channelOf, type Piece, type ReasoningPiece } from '../../../piece.ts';
import { blockBegun, signatureIn } from './content.ts';

/** An event as Anthropic spells it. */
export type MessageEvent = JsonObject & { readonly type: string };

/**
 * An answer in the events of the Messages API: each block begins before its first piece and stops as the next one begins. The
 * places are those of the list that the receipt commits to. A hub that goes on with a former block is heard: its piece names that one.
 * Thinking is shown to whoever has asked for it, and its signature comes as its block stops.
 */
export class BlockEvents {
  readonly #shows_thinking: boolean;
  readonly #began: Channel[] = [];
  #open: Channel | null = null;
  #signature: string | null = null;

  constructor(shows_thinking: boolean) {
    this.#shows_thinking = shows_thinking;
  }

  *of(piece: Piece): Generator<MessageEvent> {
    if (isThought(piece) && !this.#shows_thinking) return;
    const channel = channelOf(piece);
    // What of thinking has no text is shown to nobody, and begins nothing.
    if (!this.#began.includes(channel) && !(isThought(piece) && piece.text === '')) yield* this.#begin(channel, piece);
    const delta = deltaOf(piece);
    if (delta !== null) yield { type: 'content_block_delta', index: this.#began.indexOf(channel), delta };
    if (isThought(piece)) yield* this.#sign(piece);
  }

  /** The last block stops where the answer came to its end. */
  *end(): Generator<MessageEvent> {
    if (this.#open === null) return;
    const index = this.#began.indexOf(this.#open);
    if (this.#open === 'reasoning' && this.#signature !== null) yield signed(index, this.#signature);
    yield { type: 'content_block_stop', index };
    this.#open = null;
  }

  *#begin(channel: Channel, piece: Piece): Generator<MessageEvent> {
    yield* this.end();
    this.#open = channel;
    yield { type: 'content_block_start', index: this.#began.push(channel) - 1, content_block: begunBy(piece) };
  }

  /** One that comes after its block has stopped goes out at once. */
  *#sign({ reasoning }: ReasoningPiece): Generator<MessageEvent> {
    this.#signature = signatureIn(reasoning) ?? this.#signature;
    const stopped = this.#began.includes('reasoning') && this.#open !== 'reasoning';
    if (stopped && this.#signature !== null) yield signed(this.#began.indexOf('reasoning'), this.#signature);
  }
}

function signed(index: number, signature: string): MessageEvent {
  return { type: 'content_block_delta', index, delta: { type: 'signature_delta', signature } };
}

const isThought = (piece: Piece): piece is ReasoningPiece => typeof piece === 'object' && 'reasoning' in piece;

function begunBy(piece: Piece): JsonObject {
  if (typeof piece === 'object' && 'call' in piece) return blockBegun.call(piece.id ?? '', piece.name ?? '');
  return isThought(piece) ? blockBegun.thinking : blockBegun.text;
}

function deltaOf(piece: Piece): JsonObject | null {
  if (typeof piece === 'string') return { type: 'text_delta', text: piece };
  if ('refusal' in piece) return { type: 'text_delta', text: piece.refusal };
  if ('reasoning' in piece) return piece.text === '' ? null : { type: 'thinking_delta', thinking: piece.text };
  return piece.arguments === '' ? null : { type: 'input_json_delta', partial_json: piece.arguments };
}
