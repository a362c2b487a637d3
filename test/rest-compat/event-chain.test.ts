import fc from 'fast-check';
import { expect, expectTypeOf, it } from 'vitest';
import { BOOK_START, type BookCursor, chainStep, type FollowedEvent } from '../../rest-compat/client/event-chain.ts';
import type { BookEventNoun } from '../../schema/book/event.ts';
import { canonicalHash, type JsonObject } from '../../schema/canonical-json.ts';
import type { DocumentOf } from '../../schema/noun.ts';

it('an event of a book can be followed: the client, which is a package without zod, declares it by itself', () => {
  // Of `body` and `row`, JSON of any kind, the noun says less.
  expectTypeOf<DocumentOf<typeof BookEventNoun>>().toExtend<Omit<FollowedEvent, 'body' | 'row'>>();
});

/** A history of so many events, as a book has it. */
function historyOf(bodies: readonly JsonObject[]): FollowedEvent[] {
  let prev_hash = '';
  return bodies.map((body, at) => {
    const said = { agent_id: 7, position: at + 1, kind: 'born', seq: at + 1, task_id: `task_${at}`, body, prev_hash };
    const whole = { ...said, at: new Date(1_795_735_048_000 + at).toISOString() };
    prev_hash = canonicalHash(whole);
    return { ...whole, hash: prev_hash, row: null };
  });
}

const bodies = fc.array(
  fc.dictionary(fc.string({ unit: 'grapheme' }), fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer(), fc.boolean())),
  { minLength: 1, maxLength: 12 },
) as fc.Arbitrary<JsonObject[]>;

const cursorAt = (history: readonly FollowedEvent[], position: number): BookCursor => {
  const event = history[position - 1];
  return event ? { position, hash: event.hash } : BOOK_START;
};

it('whatever is sent again or left out, what is taken is the whole history, each event once and in order', () => {
  fc.assert(
    fc.property(bodies, fc.array(fc.nat(11)), (said, jumps) => {
      const history = historyOf(said);
      let held = BOOK_START;
      const taken: number[] = [];
      for (const at of [...jumps, ...history.keys()]) {
        const event = history[at];
        if (!event) continue;
        const step = chainStep(held, event);
        expect(step.kind).toBe(
          event.position <= held.position ? 'known' : event.position === held.position + 1 ? 'next' : 'gap',
        );
        if (step.kind !== 'next') continue;
        held = step.cursor;
        taken.push(event.position);
      }
      expect(taken).toEqual(history.map(({ position }) => position));
      expect(held).toEqual(cursorAt(history, history.length));
    }),
  );
});

it('an event of which anything was changed is not taken, nor is one of another history', () => {
  const changes: readonly ((event: FollowedEvent) => FollowedEvent)[] = [
    event => ({ ...event, body: { ...event.body, amount: '1' } }),
    event => ({ ...event, kind: 'transition' }),
    event => ({ ...event, task_id: null }),
    event => ({ ...event, at: '2026-01-01T00:00:00.000Z' }),
    event => ({ ...event, agent_id: 8 }),
    event => ({ ...event, prev_hash: '0'.repeat(64) }),
    event => ({ ...event, hash: '0'.repeat(64) }),
  ];
  fc.assert(
    fc.property(bodies, fc.nat(11), fc.nat(changes.length - 1), (said, at, which) => {
      const history = historyOf(said);
      const position = at % history.length;
      const event = history[position] as FollowedEvent;
      const held = cursorAt(history, position);
      expect(chainStep(held, event).kind).toBe('next');
      expect(chainStep(held, (changes[which] as (typeof changes)[number])(event)).kind).toBe('altered');
      const other = historyOf([{ another: true }, ...said]);
      expect(chainStep(held, { ...(other[position] as FollowedEvent) }).kind).toBe(
        position === 0 ? 'next' : 'unchained',
      );
    }),
  );
});
