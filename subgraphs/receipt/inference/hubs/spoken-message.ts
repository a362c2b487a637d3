import { type CallPiece, type Channel, channelOf, type Piece } from '../../../piece.ts';
import type { CallDelta, Delta } from './chunk.ts';
import { type AssistantMessage, messageOf } from './message.ts';

/** Text that comes in pieces: a surrogate pair may be cut in two, and its first half waits for the other. */
class Text {
  whole = '';
  #half = '';

  take(piece: string): string {
    const text = this.#half + piece;
    this.#half = /[\ud800-\udbff]$/.test(text) ? text.slice(-1) : '';
    const said = text.slice(0, text.length - this.#half.length).toWellFormed();
    this.whole += said;
    return said;
  }
}

interface SpokenCall {
  /** Which of them it is here: from 0, in the order in which they began. */
  readonly call: number;
  readonly id: string;
  readonly name: string;
  readonly given: Text;
}

/** A message while it is spoken: what each chunk adds to it, and what they add up to. */
export class SpokenMessage {
  /** What it is made of, in the order in which each of it began. */
  readonly began: Channel[] = [];
  readonly #content = new Text();
  readonly #refusal = new Text();
  /** By the index that the hub gives them. */
  readonly #calls = new Map<number, SpokenCall>();

  /** Whether every call that it adds to was begun before, with an id and a name, or is begun by it. */
  fits({ tool_calls }: Delta): boolean {
    return (tool_calls ?? []).every(
      ({ index, id, function: called }, position) => this.#calls.has(index ?? position) || (id && called?.name),
    );
  }

  /** What goes on of a delta that fits, in pieces of which none is empty. */
  take({ content, refusal, tool_calls }: Delta): readonly Piece[] {
    const pieces: Piece[] = [];
    const said = this.#content.take(content ?? '');
    if (said !== '') pieces.push(said);
    const refused = this.#refusal.take(refusal ?? '');
    if (refused !== '') pieces.push({ refusal: refused });
    for (const [position, delta] of (tool_calls ?? []).entries()) {
      const piece = this.#call(delta.index ?? position, delta);
      if (piece.id !== null || piece.arguments !== '') pieces.push(piece);
    }
    for (const channel of pieces.map(channelOf)) if (!this.began.includes(channel)) this.began.push(channel);
    return pieces;
  }

  get message(): AssistantMessage {
    const calls = [...this.#calls.values()].map(({ id, name, given }) => ({
      id,
      type: 'function' as const,
      function: { name, arguments: given.whole },
    }));
    const refusal = this.#refusal.whole;
    const content = this.#content.whole;
    return messageOf(content === '' && (calls.length > 0 || refusal !== '') ? null : content, calls, refusal);
  }

  #call(index: number, { id, function: called }: CallDelta): CallPiece {
    const begun = this.#calls.get(index);
    const given = called?.arguments ?? '';
    if (begun) return { call: begun.call, id: null, name: null, arguments: begun.given.take(given) };
    const call = { call: this.#calls.size, id: id ?? '', name: called?.name ?? '', given: new Text() };
    this.#calls.set(index, call);
    return { call: call.call, id: call.id, name: call.name, arguments: call.given.take(given) };
  }
}
