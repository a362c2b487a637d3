import { joinedReasoning, type Reasoning } from '../schema/reasoning.ts';

/* A piece of an answer while it is streamed: text, a part of a tool call, a refusal, or reasoning. */

/** A piece of a tool's call: `id` and `name` stand in its first, and each brings some of its arguments. */
export interface CallPiece {
  /** Index of the call within the answer, from 0. */
  readonly call: number;
  readonly id: string | null;
  readonly name: string | null;
  readonly arguments: string;
}

export interface RefusalPiece {
  readonly refusal: string;
}

/** What one delta adds to the reasoning, member by member. */
export interface ReasoningPiece {
  readonly reasoning: Reasoning;
  /** The same as text, once: members may repeat each other. Empty where it has none. */
  readonly text: string;
  /** Index of its block in the answer, if the hub gives blocks. */
  readonly block?: number;
}

/** Text of one block, where a hub gives its answer in blocks. */
export interface BlockTextPiece {
  readonly text: string;
  readonly block: number;
}

/** A piece of an answer while it is spoken: text, or of something else that the answer brings. */
export type Piece = string | BlockTextPiece | CallPiece | RefusalPiece | ReasoningPiece;

/** What a piece adds to; a call is named by its number, and a block by its own. */
export type Channel = 'text' | 'refusal' | 'reasoning' | `${'text' | 'reasoning'} ${number}` | number;

/** Pieces of one channel add up in their order; those of several may come in any. */
export function channelOf(piece: Piece): Channel {
  if (typeof piece === 'string') return 'text';
  if ('call' in piece) return piece.call;
  if ('refusal' in piece) return 'refusal';
  if (!('reasoning' in piece)) return `text ${piece.block}`;
  return piece.block === undefined ? 'reasoning' : `reasoning ${piece.block}`;
}

/** What both bring, of the same channel. */
export function joinPieces(one: Piece, next: Piece): Piece {
  if (typeof one === 'string') return one + next;
  if ('call' in one) return 'call' in (next as CallPiece) ? joinedCall(one, next as CallPiece) : one;
  if ('refusal' in one) return { refusal: one.refusal + (next as RefusalPiece).refusal };
  if (!('reasoning' in one)) return { ...one, text: one.text + (next as BlockTextPiece).text };
  const { reasoning, text } = next as ReasoningPiece;
  return { ...one, reasoning: joinedReasoning(one.reasoning, reasoning), text: one.text + text };
}

function joinedCall(one: CallPiece, next: CallPiece): CallPiece {
  return { ...one, arguments: one.arguments + next.arguments };
}

export function bytesOf(piece: Piece): number {
  if (typeof piece === 'string') return Buffer.byteLength(piece);
  if ('refusal' in piece) return Buffer.byteLength(piece.refusal);
  if ('reasoning' in piece) return Buffer.byteLength(JSON.stringify(piece.reasoning));
  if ('text' in piece) return Buffer.byteLength(piece.text);
  return Buffer.byteLength(`${piece.id ?? ''}${piece.name ?? ''}${piece.arguments}`);
}
