import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sseDone, sseEvent } from '../../../../rest-compat/sse.ts';
import type { Json } from '../../../../schema/canonical-json.ts';
import { eventsIn, OverlongEvent } from '../../../../subgraphs/receipt/inference/hubs/events.ts';
import { gather } from '../../../harness/gather.ts';

async function* of(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

async function readEvents(chunks: readonly Uint8Array[], event_chars_max = 1_000): Promise<string[]> {
  return gather(eventsIn(of(chunks), event_chars_max));
}

const bytes = (text: string) => new TextEncoder().encode(text);

/** The same bytes, cut at any places: within a line, a line break or a character. */
function cut(whole: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...new Set(places.map(place => place % (whole.length + 1)))].sort((a, b) => a - b);
  return [...ends, whole.length].map((end, index) => whole.subarray(index === 0 ? 0 : ends[index - 1], end));
}

const text = fc.string({ unit: 'grapheme' });
const json = fc.jsonValue() as fc.Arbitrary<Json>;

describe('what we frame', () => {
  it('is read as it was meant, wherever its bytes are cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(json), fc.array(fc.nat(), { maxLength: 40 }), async (values, places) => {
        const framed = bytes(values.map(sseEvent).join('') + sseDone);
        const data = await readEvents(cut(framed, places), 1_000_000);
        expect(data.slice(0, -1).map(event => JSON.parse(event))).toEqual(JSON.parse(JSON.stringify(values)));
        expect(data.at(-1)).toBe('[DONE]');
      }),
    );
  });
});

describe('what a hub frames', () => {
  const ending = fc.constantFrom('\n', '\r', '\r\n');
  const noise = fc.constantFrom(': keep-alive', 'event: message', 'id: 7', 'retry: 1000', 'unknown: x', 'data', ':');

  it('is the same with any line ending, with comments and other fields in between, wherever it is cut', async () => {
    const line = text.map(it => it.replace(/[\r\n]/g, ' '));
    const events = fc.array(fc.tuple(fc.array(line, { minLength: 1, maxLength: 3 }), fc.boolean()));
    await fc.assert(
      fc.asyncProperty(events, ending, fc.array(fc.nat(), { maxLength: 40 }), async (all, end, places) => {
        const written = all.map(([lines, space]) => {
          const fields = lines.map(it => `data:${space || it.startsWith(' ') ? ' ' : ''}${it}`);
          return [': comment', 'event: message', ...fields, '', ''].join(end);
        });
        // The space after the colon is not part of the value, and the lines of one event are joined.
        expect(await readEvents(cut(bytes(written.join('')), places), 1_000_000)).toEqual(
          all.map(([lines]) => lines.join('\n')),
        );
      }),
    );
  });

  it('of which the end is missing is no event', async () => {
    expect(await readEvents([bytes('data: 1\n\ndata: 2\n')])).toEqual(['1']);
  });

  it('no noise makes an event that nobody sent', async () => {
    const lines = fc.array(noise.filter(it => it !== 'data'));
    await fc.assert(
      fc.asyncProperty(lines, ending, async (all, end) => {
        expect(await readEvents([bytes(all.map(line => line + end + end).join(''))])).toEqual([]);
      }),
    );
  });

  it.each([
    ['a line without an end', `data: ${'x'.repeat(2_000)}`],
    ['an event without an end', 'data: xxxxxxxxxx\n'.repeat(200)],
  ])('%s is too long at some point', async (_, endless) => {
    const chunks = cut(bytes(endless), [500, 1_000, 1_500]);
    await expect(readEvents([bytes('data: fine\n\n'), ...chunks])).rejects.toThrow(OverlongEvent);
  });

  it('is refused where it is not UTF-8', async () => {
    await expect(readEvents([Uint8Array.of(0x64, 0x61, 0x74, 0x61, 0x3a, 0xff, 0x0a, 0x0a)])).rejects.toThrow(
      TypeError,
    );
  });
});
