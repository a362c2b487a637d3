import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StreamDriver, StreamsInFlight } from '../../../gateway/call/drive-stream.ts';
import { TextChannel } from '../../../gateway/call/text-channel.ts';
import { channelOf, joinPieces, type Piece } from '../../../subgraphs/piece.ts';
import { gather } from '../../harness/gather.ts';

/** Says one piece each time that it is asked to, and counts how often it was. */
function speaker(pieces: readonly string[]) {
  let asked = 0;
  let cancelled = false;
  return {
    asked: () => asked,
    cancelled: () => cancelled,
    cancel: () => {
      cancelled = true;
    },
    pieces: (async function* () {
      for (const piece of pieces) {
        if (cancelled) return;
        asked++;
        yield piece;
      }
    })(),
  };
}

const options = (buffer_bytes_max: number) => ({ buffer_bytes_max, reached: async () => {} });
const letters = (count: number) => Array.from({ length: count }, (_, index) => String.fromCharCode(97 + (index % 26)));

async function idle(): Promise<void> {
  for (let turns = 0; turns < 50; turns++) await turn();
}

describe('before the money has moved', () => {
  it('a driver takes in what its buffer holds, then listens no longer, and drops nothing', async () => {
    const speaking = speaker(letters(100));
    const driver = new StreamDriver(speaking, options(10));
    await idle();
    expect(speaking.asked()).toBe(10);
    driver.release();
    expect((await gather(driver.pieces)).join('')).toBe(letters(100).join(''));
    await driver.ended;
  });

  it('a driver that is cancelled comes to its end', async () => {
    const speaking = speaker(letters(100));
    const driver = new StreamDriver(speaking, options(10));
    await idle();
    driver.cancel();
    await driver.ended;
    expect(speaking.cancelled()).toBe(true);
    expect(speaking.asked()).toBe(10);
  });
});

describe('once it has', () => {
  it('a driver comes to its end with a reader who never reads', async () => {
    const speaking = speaker(letters(10_000));
    const driver = new StreamDriver(speaking, options(10));
    driver.release();
    await driver.ended;
    expect(speaking.asked()).toBe(10_000);
    expect((await gather(driver.pieces)).join('')).toBe(letters(10_000).join(''));
  });

  it('a driver comes to its end when its reader leaves', async () => {
    const speaking = speaker(letters(10_000));
    const driver = new StreamDriver(speaking, options(10));
    driver.release();
    for await (const _ of driver.pieces) break;
    await driver.ended;
    expect(speaking.asked()).toBe(10_000);
    expect(await gather(driver.pieces)).toEqual([]);
  });
});

describe('an channel', () => {
  it('gives its reader all that was written, in order, however writes and reads fall together', async () => {
    const steps = fc.array(fc.oneof(fc.string({ minLength: 1 }), fc.constant(null)), { maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(steps, async all => {
        const channel = new TextChannel();
        const reader = channel[Symbol.asyncIterator]();
        const read: Promise<IteratorResult<Piece>>[] = [];
        for (const step of all) {
          if (step !== null) channel.write(step);
          else if (channel.held_bytes > 0) read.push(reader.next());
          await turn();
        }
        channel.end();
        const heard = await Promise.all(read);
        const rest = await gather(channel);
        const text = [...heard.map(({ value }) => value), ...rest].join('');
        expect(text).toBe(all.filter(step => step !== null).join(''));
        expect(channel.held_bytes).toBe(0);
      }),
      { numRuns: 50 },
    );
  });

  it('gives each channel whole and in order, however calls and texts take turns', async () => {
    const said = Array.from({ length: 10_000 }, (_, index): Piece => {
      const letter = String.fromCharCode(97 + (index % 26));
      if (index % 3 === 0) return letter;
      if (index % 3 === 1) return { refusal: letter };
      const begins = index < 30;
      return { call: index % 5, id: begins ? `id ${index % 5}` : null, name: begins ? 'f' : null, arguments: letter };
    });
    const channel = new TextChannel();
    for (const piece of said) channel.write(piece);
    channel.end();
    const pieces = await gather(channel);
    expect(pieces.length).toBeLessThan(1_024 + 8);
    const whole = (all: readonly Piece[]) =>
      [...Map.groupBy(all, channelOf)].map(([channel, own]) => [channel, own.reduce(joinPieces)]);
    expect(whole(pieces)).toEqual(whole(said));
    expect(channel.held_bytes).toBe(0);
  });

  it('runs pieces together that nobody reads', async () => {
    const channel = new TextChannel();
    for (const piece of letters(100_000)) channel.write(piece);
    channel.end();
    const pieces = await gather(channel);
    expect(pieces.length).toBeLessThan(2_000);
    expect(pieces.join('')).toBe(letters(100_000).join(''));
  });

  it('lets a reader go who waits for what does not come', async () => {
    const channel = new TextChannel();
    const reader = channel[Symbol.asyncIterator]();
    const next = reader.next();
    await reader.return?.();
    expect(await next).toEqual({ done: true, value: undefined });
  });
});

describe('streams in flight', () => {
  it('are waited for on a clean stop, also those that fail', async () => {
    const streams = new StreamsInFlight();
    const [one, other] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    for (const { promise } of [one, other]) streams.add(promise, () => {});
    let ended = false;
    const waited = streams.ended().then(() => {
      ended = true;
    });
    one.resolve();
    await idle();
    expect(ended).toBe(false);
    other.reject(new Error('not recorded'));
    await waited;
  });

  it('that take too long are cut off, also those that begin after that', async () => {
    const streams = new StreamsInFlight();
    const open = () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      streams.add(promise, resolve);
    };
    open();
    streams.stop(1);
    await streams.ended();
    open();
    await streams.ended();
  });
});
