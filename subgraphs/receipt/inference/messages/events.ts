import type { JsonObject } from '../../../../schema/canonical-json.ts';
import type { Reasoning } from '../../../../schema/reasoning.ts';
import { type Channel, channelOf, type Piece, type ReasoningPiece } from '../../../piece.ts';
import { blockBegun, type ShownThinking, signatureIn } from './content.ts';

/* Translates a streamed message to the events of the Messages API. */

/** An event with Anthropic's member names. */
export type MessageEvent = JsonObject & { readonly type: string };

/**
 * Translates the pieces of an answer to events of the Messages API. Each block begins before its first piece and stops when the next one
 * begins. Indexes are those of the list to which the receipt commits. A hub may continue an earlier block by naming it. Thinking is sent
 * only on request, and its signature when its block stops.
 */
export class BlockEvents {
  readonly #shown: ShownThinking;
  readonly #began: Channel[] = [];
  readonly #signatures = new Map<Channel, string>();
  #open: Channel | null = null;

  constructor(shown: ShownThinking) {
    this.#shown = shown;
  }

  *of(piece: Piece): Generator<MessageEvent> {
    if (isThought(piece) && !this.#shows(piece)) return;
    const channel = channelOf(piece);
    // Thinking without text begins no block, unless the hub sent it as a block.
    const begins = !isThought(piece) || piece.text !== '' || piece.block !== undefined;
    if (begins && !this.#began.includes(channel)) yield* this.#begin(channel, piece);
    const delta = isThought(piece) && this.#shown !== 'whole' ? null : deltaOf(piece);
    if (delta !== null) yield { type: 'content_block_delta', index: this.#began.indexOf(channel), delta };
    if (isThought(piece)) yield* this.#sign(channel, piece);
  }

  /** Stops the open block: before the next one begins, or when the answer is complete. */
  *end(): Generator<MessageEvent> {
    if (this.#open === null) return;
    yield* this.brokeOff();
    yield { type: 'content_block_stop', index: this.#began.indexOf(this.#open) };
    this.#open = null;
  }

  /** Events after an answer broke off. No block stops, but a signature that was received is still sent. */
  *brokeOff(): Generator<MessageEvent> {
    const signature = this.#open === null ? undefined : this.#signatures.get(this.#open);
    if (this.#open !== null && signature !== undefined)
      yield signatureEvent(this.#began.indexOf(this.#open), signature);
  }

  /**
   * Whether a piece of thinking is sent. If its text is omitted, it is sent only for its signature or encrypted data. Its block begins with
   * that, and is left out without it.
   */
  #shows({ reasoning, block }: ReasoningPiece): boolean {
    if (this.#shown === 'whole') return true;
    return this.#shown === 'signed' && block !== undefined && isSealed(reasoning);
  }

  *#begin(channel: Channel, piece: Piece): Generator<MessageEvent> {
    yield* this.end();
    this.#open = channel;
    yield { type: 'content_block_start', index: this.#began.push(channel) - 1, content_block: blockStartOf(piece) };
  }

  /** Keeps a signature until its block stops. If the block has stopped already, the signature is sent at once. */
  *#sign(channel: Channel, { reasoning }: ReasoningPiece): Generator<MessageEvent> {
    const signature = signatureIn(reasoning);
    if (signature === null) return;
    this.#signatures.set(channel, signature);
    const has_stopped = this.#began.includes(channel) && this.#open !== channel;
    if (has_stopped) yield signatureEvent(this.#began.indexOf(channel), signature);
  }
}

function signatureEvent(index: number, signature: string): MessageEvent {
  return { type: 'content_block_delta', index, delta: { type: 'signature_delta', signature } };
}

const isThought = (piece: Piece): piece is ReasoningPiece => typeof piece === 'object' && 'reasoning' in piece;

function blockStartOf(piece: Piece): JsonObject {
  if (typeof piece === 'object' && 'call' in piece) return blockBegun.call(piece.id ?? '', piece.name ?? '');
  if (!isThought(piece)) return blockBegun.text;
  const encrypted = encryptedIn(piece.reasoning);
  return encrypted && piece.block !== undefined ? blockBegun.redacted(String(encrypted.data)) : blockBegun.thinking;
}

/** Whether the reasoning has a signature or encrypted data, by which its provider recognises it. */
function isSealed(reasoning: Reasoning): boolean {
  return signatureIn(reasoning) !== null || encryptedIn(reasoning) !== undefined;
}

const encryptedIn = ({ reasoning_details }: Reasoning): JsonObject | undefined =>
  reasoning_details?.find(({ type }) => type === 'reasoning.encrypted');

function deltaOf(piece: Piece): JsonObject | null {
  if (typeof piece === 'string') return { type: 'text_delta', text: piece };
  if ('refusal' in piece) return { type: 'text_delta', text: piece.refusal };
  if ('call' in piece)
    return piece.arguments === '' ? null : { type: 'input_json_delta', partial_json: piece.arguments };
  if (!('reasoning' in piece)) return { type: 'text_delta', text: piece.text };
  return piece.text === '' ? null : { type: 'thinking_delta', thinking: piece.text };
}
