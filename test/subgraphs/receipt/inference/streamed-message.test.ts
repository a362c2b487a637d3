import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../../schema/limits.ts';
import { channelOf, joinPieces, type Piece } from '../../../../subgraphs/piece.ts';
import { piecesOf } from '../../../../subgraphs/receipt/inference/completions/completion.paid.ts';
import { HubChoice } from '../../../../subgraphs/receipt/inference/hubs/chat.ts';
import { finishReasonOf } from '../../../../subgraphs/receipt/inference/hubs/finish-reason.ts';
import { type Delta, StreamedMessage } from '../../../../subgraphs/receipt/inference/hubs/streamed-message.ts';

type CallDelta = NonNullable<Delta['tool_calls']>[number];

const text = fc.string({ unit: 'grapheme', maxLength: 20 });
/** A text that is cut at any places, even within a surrogate pair. */
const cut = text.chain(whole =>
  fc.uniqueArray(fc.nat({ max: whole.length })).map(places => {
    const at = [0, ...places.sort((one, other) => one - other), whole.length];
    return at.slice(1).map((end, index) => whole.slice(at[index], end));
  }),
);
const messageParts = fc.record({ thought: cut, content: cut, refusal: cut, calls: fc.array(cut, { maxLength: 4 }) });
interface MessageParts {
  readonly thought: string[];
  readonly content: string[];
  readonly refusal: string[];
  readonly calls: string[][];
}

const begins = (index: number): CallDelta => ({ index, id: `call_${index}`, function: { name: `f${index}` } });
const adds = (index: number, given: string): CallDelta => ({ index, function: { arguments: given } });

function deltasOf({ thought, content, refusal, calls }: MessageParts): Delta[] {
  const given = calls.map((pieces, index) => [begins(index), ...pieces.map(piece => adds(index, piece))]);
  const longest = Math.max(0, ...given.map(({ length }) => length));
  // Interleaves the pieces of all tool calls, because some hubs send them in parallel.
  const rounds = Array.from({ length: longest }, (_, round) => given.flatMap(each => each[round] ?? []));
  return [
    ...thought.map(piece => ({ reasoning_content: piece, reasoning: piece })),
    ...content.map(piece => ({ content: piece })),
    ...refusal.map(piece => ({ refusal: piece })),
    ...rounds.map(tool_calls => ({ tool_calls })),
  ];
}

function assembleMessage(deltas: readonly Delta[]) {
  const message = new StreamedMessage();
  const pieces = deltas.flatMap(delta => {
    expect(message.fits(delta)).toBe(true);
    return [...message.take(delta)];
  });
  return { message: message.message, pieces, began: message.began };
}

const byChannel = (pieces: readonly Piece[]) =>
  new Map([...Map.groupBy(pieces, channelOf)].map(([channel, own]) => [channel, own.reduce(joinPieces)]));

describe('a message that is spoken', () => {
  it('is what its deltas say, wherever they are cut, and its pieces add up to it', () => {
    fc.assert(
      fc.property(messageParts, said => {
        const { message, pieces, began } = assembleMessage(deltasOf(said));
        const [content, refusal] = [said.content.join(''), said.refusal.join('')];
        const thought = said.thought.join('');
        const silent = content === '' && (thought !== '' || refusal !== '' || said.calls.length > 0);
        expect(message.content).toBe(silent ? null : content);
        expect(message.refusal ?? '').toBe(refusal);
        expect([message.reasoning_content ?? '', message.reasoning ?? '']).toEqual([thought, thought]);
        expect(message.tool_calls?.map(call => call.function.arguments) ?? []).toEqual(
          said.calls.map(given => given.join('')),
        );
        expect(byChannel(pieces)).toEqual(byChannel(piecesOf(message)));
        expect(began).toEqual([...new Set(pieces.map(channelOf))]);
      }),
    );
  });

  it('shows reasoning once, from the member that told it first, and holds all members', () => {
    const signed = { type: 'reasoning.text', index: 0, signature: 'S' };
    const { message, pieces, began } = assembleMessage([
      { reasoning_details: [{ type: 'reasoning.encrypted', data: 'E' }] },
      { reasoning: 'a', reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'a' }] },
      { content: 'x' },
      { reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'b' }], reasoning: 'b' },
      { reasoning_details: [signed], reasoning: null },
    ]);
    expect(message).toEqual({
      role: 'assistant',
      content: 'x',
      reasoning: 'ab',
      reasoning_details: [
        { type: 'reasoning.encrypted', data: 'E' },
        { ...signed, text: 'ab' },
      ],
    });
    expect(pieces.map(piece => (typeof piece === 'object' && 'reasoning' in piece ? piece.text : null))).toEqual([
      '',
      'a',
      null,
      'b',
      '',
    ]);
    expect(began).toEqual(['reasoning', 'text']);
  });

  it('is an answer where it would be one in one piece', () => {
    const said = fc.record({
      content: fc.constantFrom(null, '', 'x'),
      refusal: fc.constantFrom(null, '', 'No'),
      tool_calls: fc.constantFrom<Delta['tool_calls'][]>(
        null,
        [],
        [{ index: 0, id: 'c', function: { name: 'f', arguments: '{}' } }],
      ),
      reasoning: fc.constantFrom(null, '', 'Hm'),
      reasoning_details: fc.constantFrom<Delta['reasoning_details'][]>(
        null,
        [],
        [{ type: 'reasoning.encrypted', data: 'E' }],
      ),
    });
    const reason = fc.constantFrom('stop', 'length', 'content_filter', 'tool_calls', 'error', 'end_turn');
    fc.assert(
      fc.property(said, reason, (delta, finish_reason) => {
        const streamed = new StreamedMessage();
        streamed.take(delta);
        const whole = HubChoice.safeParse({ message: delta, finish_reason });
        const meant = finishReasonOf(finish_reason);
        expect(meant !== null && meant !== 'broke_off' && streamed.isAnswer(meant)).toBe(whole.success);
        if (whole.data && delta.content) expect(streamed.message).toEqual(whole.data.message);
      }),
    );
  });

  it('leaves out details beyond their number, of the message and of its pieces alike', () => {
    const room = limits.reasoning_details_max;
    const sealed = (count: number) =>
      Array.from({ length: count }, (_, n) => ({ type: 'reasoning.encrypted', data: `${n}` }));
    const last = { type: 'reasoning.text', text: 'a' };
    const { message, pieces } = assembleMessage([
      { reasoning_details: sealed(room - 1) },
      { reasoning_details: [last, ...sealed(2)] },
      { reasoning_details: [{ ...last, text: 'b' }, ...sealed(1)] },
    ]);
    expect(message.reasoning_details).toEqual([...sealed(room - 1), { ...last, text: 'ab' }]);
    expect(pieces.map(piece => (typeof piece === 'object' && 'reasoning' in piece ? piece.text : null))).toEqual([
      '',
      'a',
      'b',
    ]);
  });

  it('numbers its calls as they begin, whatever the hub calls them', () => {
    const { message, pieces } = assembleMessage([
      { tool_calls: [begins(7)] },
      { tool_calls: [begins(3)] },
      { tool_calls: [adds(7, '{}')] },
    ]);
    expect(message.tool_calls?.map(({ id }) => id)).toEqual(['call_7', 'call_3']);
    expect(pieces.map(channelOf)).toEqual([0, 1, 0]);
  });

  it.each<[string, CallDelta]>([
    ['was never begun', adds(0, '{}')],
    ['begins without an id', { index: 0, function: { name: 'f', arguments: '' } }],
    ['begins without a name', { index: 0, id: 'call_0' }],
  ])('takes no part of a call that %s', (_, delta) => {
    expect(new StreamedMessage().fits({ tool_calls: [delta] })).toBe(false);
  });
});
