import type { ExecutionResult } from 'graphql';
import { expect, it } from 'vitest';
import type { Delivery } from '../../../gateway/sockets/delivery.ts';
import type { NextMessage } from '../../../gateway/sockets/frame.ts';
import { Group, Pace } from '../../../gateway/sockets/group.ts';
import { Member } from '../../../gateway/sockets/member.ts';
import { POSITION } from '../../../gateway/sockets/shareable.ts';

/** A live field with `newest` events, whose readers before that one wait until they are let. */
class Source {
  readonly #newest: number;
  readonly #let = Promise.withResolvers<void>();
  opened = 0;
  released = 0;

  constructor(newest: number) {
    this.#newest = newest;
  }

  read(): void {
    this.#let.resolve();
  }

  follow(after: number | null): AsyncIterableIterator<ExecutionResult> {
    this.opened++;
    const ended = Promise.withResolvers<void>();
    let position = after !== null && after >= 0 ? after : Math.max(0, this.#newest + (after ?? 0));
    let open = true;
    const done = { done: true, value: undefined } as const;
    return {
      next: async () => {
        if (position === this.#newest) await ended.promise;
        else if (after !== null && after >= 0) await Promise.race([this.#let.promise, ended.promise]);
        if (!open) return done;
        position++;
        return { done: false, value: { data: { ticks: { text: 'x'.repeat(64 * 1024), [POSITION]: position } } } };
      },
      return: async () => {
        if (open) this.released++;
        open = false;
        ended.resolve();
        return done;
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }
}

function groupOf(source: Source, remembered_bytes_max = 128 * 1024): Group {
  return new Group({
    execute: async after => source.follow(after),
    response_name: 'ticks',
    catchUp: async () => {},
    pace: new Pace(),
    hasPaid: () => false,
    remembered_bytes_max: () => remembered_bytes_max,
    onRelease: () => {},
  });
}

/** A way out that may be closed: `passed` then waits until it is opened. */
function delivery(passed: () => Promise<void> = async () => {}) {
  const sent: number[] = [];
  const send = ({ position }: NextMessage) => sent.push(position) > 0;
  return {
    sent,
    way: { gate: { held: false, awaitPass: passed }, send } as Pick<Delivery, 'gate' | 'send'> as Delivery,
  };
}

it('whoever leaves while others read for it what it missed leaves no source open', async () => {
  const source = new Source(20);
  const group = groupOf(source);
  const [stays, leaves] = [0, 5].map(after => new Member(group, delivery().way, after));
  for (const member of [stays, leaves]) group.enter(member as Member);
  await group.begun;
  const waiting = [stays?.next(), leaves?.next()];
  await expect.poll(() => source.opened).toBe(2);
  await leaves?.return();
  // All of it is too much to be remembered: each is to read for itself.
  source.read();
  expect(await waiting[1]).toMatchObject({ done: true });
  await stays?.return();
  await expect.poll(() => source.opened - source.released).toBe(0);
});

it('whoever is far behind is sent nothing before every end of a session was heard of', async () => {
  const source = new Source(200);
  const group = groupOf(source);
  await group.begun;
  const hearing = Promise.withResolvers<void>();
  let asked = 0;
  const { way } = delivery(() => {
    asked++;
    return hearing.promise;
  });
  const member = new Member(group, way, 0);
  group.enter(member);
  source.read();
  let heard = 0;
  const first = member.next().then(({ value }) => {
    heard++;
    return value;
  });
  await expect.poll(() => asked).toBe(1);
  expect(heard).toBe(0);
  hearing.resolve();
  expect(await first).toMatchObject({ data: { ticks: {} } });
  await member.next();
  expect(asked).toBe(2);
  await member.return();
});

it('an event too large to be remembered is read again by whoever lacks it, and by nobody else', async () => {
  const source = new Source(3);
  const group = groupOf(source, 1_000);
  await group.begun;
  source.read();
  const [behind, level] = [2, 3].map(after => new Member(group, delivery().way, after));
  for (const member of [behind, level]) group.enter(member as Member);
  expect(await behind?.next()).toMatchObject({ done: false });
  const waiting = [behind?.next(), level?.next()];
  await expect.poll(() => [source.opened, source.released]).toEqual([2, 1]);
  for (const member of [behind, level]) await member?.return();
  for (const end of waiting) expect(await end).toMatchObject({ done: true });
  await expect.poll(() => source.released).toBe(2);
});
