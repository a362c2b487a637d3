import { joinedReasoning, type Reasoning } from '../schema/reasoning.ts';

/* A piece of an answer while it is streamed: text, a part of a tool call, a refusal, or reasoning. */

/** A piece of a tool's call: `id` and `name` stand in its first, and each brings some of its arguments. */
export interface CallPiece {
  /** Which call of the answer, from 0. */
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
}

/** A piece of an answer while it is spoken: text, or of something else that the answer brings. */
export type Piece = string | CallPiece | RefusalPiece | ReasoningPiece;

/** What a piece adds to; a call is named by its number. */
export type Channel = 'text' | 'refusal' | 'reasoning' | number;

/** Pieces of one channel add up in their order; those of several may come in any. */
export function channelOf(piece: Piece): Channel {
  if (typeof piece === 'string') return 'text';
  if ('call' in piece) return piece.call;
  return 'refusal' in piece ? 'refusal' : 'reasoning';
}

/** What both bring, of the same channel. */
export function joined(one: Piece, next: Piece): Piece {
  if (typeof one === 'string') return one + next;
  if ('call' in one) return 'call' in (next as CallPiece) ? joinedCall(one, next as CallPiece) : one;
  if ('refusal' in one) return { refusal: one.refusal + (next as RefusalPiece).refusal };
  const { reasoning, text } = next as ReasoningPiece;
  return { reasoning: joinedReasoning(one.reasoning, reasoning), text: one.text + text };
}

function joinedCall(one: CallPiece, next: CallPiece): CallPiece {
  return { ...one, arguments: one.arguments + next.arguments };
}

export function bytesOf(piece: Piece): number {
  if (typeof piece === 'string') return Buffer.byteLength(piece);
  if ('refusal' in piece) return Buffer.byteLength(piece.refusal);
  if ('reasoning' in piece) return Buffer.byteLength(JSON.stringify(piece.reasoning));
  return Buffer.byteLength(`${piece.id ?? ''}${piece.name ?? ''}${piece.arguments}`);
}
