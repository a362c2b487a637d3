import { joinedReasoning, type Reasoning } from '../schema/reasoning.ts';

/* A piece of an answer while it is streamed: text, a part of a tool call, a refusal, or reasoning. */

/** A piece of a tool call. The first one has `id` and `name`, and each has a part of the arguments. */
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
  /** Text of the reasoning, without the repetitions in other members. Empty if the reasoning has no text. */
  readonly text: string;
  /** Index of the block in the answer, if the hub gives its answer in blocks. */
  readonly block?: number;
}

/** Text of one block, from a hub that gives its answer in blocks. */
export interface BlockTextPiece {
  readonly text: string;
  readonly block: number;
}

export type Piece = string | BlockTextPiece | CallPiece | RefusalPiece | ReasoningPiece;

/**
 * The part of an answer to which a piece belongs. A call is identified by its index, text and reasoning of a block by the block's index.
 */
export type Channel = 'text' | 'refusal' | 'reasoning' | `${'text' | 'reasoning'} ${number}` | number;

/** Pieces of one channel must stay in order. Pieces of different channels may come in any order. */
export function channelOf(piece: Piece): Channel {
  if (typeof piece === 'string') return 'text';
  if ('call' in piece) return piece.call;
  if ('refusal' in piece) return 'refusal';
  if (!('reasoning' in piece)) return `text ${piece.block}`;
  return piece.block === undefined ? 'reasoning' : `reasoning ${piece.block}`;
}

/** Joins two pieces of the same channel. */
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
