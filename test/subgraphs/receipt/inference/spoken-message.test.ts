import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { channelOf, joined, type Piece } from '../../../../subgraphs/piece.ts';
import { piecesOf } from '../../../../subgraphs/receipt/inference/completions/completion.paid.ts';
import { type Delta, StreamedMessage } from '../../../../subgraphs/receipt/inference/hubs/streamed-message.ts';

type CallDelta = NonNullable<Delta['tool_calls']>[number];

const text = fc.string({ unit: 'grapheme', maxLength: 20 });
/** A text cut anywhere, also in the midst of a surrogate pair. */
const cut = text.chain(whole =>
  fc.uniqueArray(fc.nat({ max: whole.length })).map(places => {
    const at = [0, ...places.sort((one, other) => one - other), whole.length];
    return at.slice(1).map((end, index) => whole.slice(at[index], end));
  }),
);
const spoken = fc.record({ content: cut, refusal: cut, calls: fc.array(cut, { maxLength: 4 }) });

const begins = (index: number): CallDelta => ({ index, id: `call_${index}`, function: { name: `f${index}` } });
const adds = (index: number, given: string): CallDelta => ({ index, function: { arguments: given } });

function deltasOf({ content, refusal, calls }: { content: string[]; refusal: string[]; calls: string[][] }): Delta[] {
  const given = calls.map((pieces, index) => [begins(index), ...pieces.map(piece => adds(index, piece))]);
  const longest = Math.max(0, ...given.map(({ length }) => length));
  // All calls at once, as hubs that run them side by side send them.
  const rounds = Array.from({ length: longest }, (_, round) => given.flatMap(each => each[round] ?? []));
  return [
    ...content.map(piece => ({ content: piece })),
    ...refusal.map(piece => ({ refusal: piece })),
    ...rounds.map(tool_calls => ({ tool_calls })),
  ];
}

function heard(deltas: readonly Delta[]) {
  const message = new StreamedMessage();
  const pieces = deltas.flatMap(delta => {
    expect(message.fits(delta)).toBe(true);
    return [...message.take(delta)];
  });
  return { message: message.message, pieces, began: message.began };
}

const byChannel = (pieces: readonly Piece[]) =>
  new Map([...Map.groupBy(pieces, channelOf)].map(([channel, own]) => [channel, own.reduce(joined)]));

describe('a message that is spoken', () => {
  it('is what its deltas say, wherever they are cut, and its pieces add up to it', () => {
    fc.assert(
      fc.property(spoken, said => {
        const { message, pieces, began } = heard(deltasOf(said));
        const [content, refusal] = [said.content.join(''), said.refusal.join('')];
        const silent = content === '' && (refusal !== '' || said.calls.length > 0);
        expect(message.content).toBe(silent ? null : content);
        expect(message.refusal ?? '').toBe(refusal);
        expect(message.tool_calls?.map(call => call.function.arguments) ?? []).toEqual(
          said.calls.map(given => given.join('')),
        );
        expect(byChannel(pieces)).toEqual(byChannel(piecesOf(message)));
        expect(began).toEqual([...new Set(pieces.map(channelOf))]);
      }),
    );
  });

  it('numbers its calls as they begin, whatever the hub calls them', () => {
    const { message, pieces } = heard([
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
