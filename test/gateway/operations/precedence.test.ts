import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  Precedence,
  type PrecedenceLimits,
  precedenceLimits,
  type Turns,
} from '../../../gateway/operations/precedence.ts';

/** An event loop whose turns and clock a test moves. */
function manualLoop() {
  let now_ms = 0;
  let steps: (() => void)[] = [];
  let timers: { readonly at_ms: number; readonly run: () => void }[] = [];
  const turns: Turns = {
    now_ms: () => now_ms,
    next: (count, step) => void steps.push(...Array.from({ length: count }, () => step)),
    after: (ms, run) => void timers.push({ at_ms: now_ms + ms, run }),
  };
  return {
    turns,
    now_ms: () => now_ms,
    /** A request takes this long, within its step. */
    work(ms: number): void {
      now_ms += ms;
    },
    turn(ms = 0): void {
      now_ms += ms;
      const due = timers.filter(({ at_ms }) => at_ms <= now_ms);
      timers = timers.filter(({ at_ms }) => at_ms > now_ms);
      for (const { run } of due) run();
      const now = steps;
      steps = [];
      for (const step of now) step();
    },
  };
}

function opened(limits: Partial<PrecedenceLimits> = {}) {
  const loop = manualLoop();
  const precedence = new Precedence(loop.turns, { ...precedenceLimits, ...limits });
  const served: string[] = [];
  /** A request that is answered within its step, after that time. */
  const request = (name: string, { caller = 'a', presents = false, ms = 0.1 } = {}) => {
    const leave = precedence.enter(caller, presents, () => {
      served.push(name);
      loop.work(ms);
      queueMicrotask(() => leave?.());
    });
    return leave;
  };
  return { loop, precedence, served, request };
}

const many = (count: number, name: string) => Array.from({ length: count }, (_, at) => `${name}${at}`);

it('serves a request at once while nothing waits', () => {
  const { served, request } = opened();
  request('a');
  expect(served).toEqual(['a']);
});

it('lets the loop turn once a slice of time is used up, also without a paid call', () => {
  const { loop, precedence, served, request } = opened();
  for (const name of many(10, 'a')) request(name, { ms: 1 });
  expect(served).toHaveLength(2);
  expect(precedence.waiting).toBe(8);
  for (let turn = 0; turn < 10; turn++) loop.turn();
  expect(served).toEqual(many(10, 'a'));
});

it.each([
  ['a new paid call for a ninth of the time', 0, 9],
  ['one in progress for longer for a third', precedenceLimits.new_ms_max, 3],
] as const)('serves free requests beside %s', async (_, age_ms, part) => {
  const { loop, precedence, served, request } = opened();
  precedence.begin({}, 'payer');
  loop.work(age_ms);
  const from_ms = loop.now_ms();
  for (const name of many(100, 'a')) request(name, { ms: 0.5 });
  while (loop.now_ms() - from_ms < 50) {
    loop.turn(0.01);
    await null;
  }
  const share_ms = (loop.now_ms() - from_ms) / part;
  expect(served.length * 0.5).toBeGreaterThan(share_ms * 0.9);
  expect(served.length * 0.5).toBeLessThanOrEqual(share_ms + 0.5);
});

it('expects the next paid call soon after one, and not after a long one', () => {
  const { loop, precedence, served, request } = opened();
  const call = {};
  const slow = () => request('slow', { ms: 3 });
  precedence.begin(call, 'payer');
  precedence.end(call);
  slow();
  for (const name of many(10, 'a')) request(name);
  loop.turn();
  expect(served).toEqual(['slow']);
  loop.turn(precedenceLimits.lingering_ms);
  loop.turn();
  expect(served).toHaveLength(11);
  precedence.begin(call, 'payer');
  loop.work(precedenceLimits.new_ms_max);
  precedence.end(call);
  for (const name of many(10, 'b')) request(name);
  expect(served).toHaveLength(21);
});

it('lets in one free request beside a paid call until it is answered or has waited for something else', () => {
  const { loop, precedence, served } = opened();
  precedence.begin({}, 'payer');
  const leave = precedence.enter('a', false, () => served.push('first'));
  precedence.enter('a', false, () => served.push('second'));
  for (let turn = 0; turn < 5; turn++) loop.turn(0.5);
  expect(served).toEqual(['first']);
  leave?.();
  for (let turn = 0; turn < 20; turn++) loop.turn(1);
  expect(served).toEqual(['first', 'second']);
  precedence.enter('a', false, () => served.push('third'));
  // Nobody says that the second was answered.
  for (let turn = 0; turn < 200; turn++) loop.turn(1);
  expect(served).toEqual(['first', 'second', 'third']);
});

it('serves callers in turn, however many requests one of them has', async () => {
  const { loop, precedence, served, request } = opened();
  precedence.begin({}, 'payer');
  for (const name of many(50, 'crowd')) request(name, { caller: 'crowd' });
  request('one', { caller: 'other' });
  for (let turn = 0; turn < 2_000; turn++) {
    loop.turn(0.1);
    await null;
  }
  expect(served.indexOf('one')).toBeLessThanOrEqual(served.indexOf('crowd2'));
  expect(served).toHaveLength(51);
});

it('does not let a request with a payment wait for the free ones of its address', () => {
  const { loop, precedence, served, request } = opened();
  precedence.begin({}, 'another');
  for (const name of many(50, 'free')) request(name);
  request('paying', { presents: true });
  loop.turn();
  expect(served).toContain('paying');
  expect(precedence.waiting).toBeGreaterThan(40);
});

it('lets in two payments of a caller on arrival for each that was verified, and further ones in turn', () => {
  const { loop, precedence, served, request } = opened();
  precedence.begin({}, 'payer');
  for (const name of many(20, 'stranger')) request(name, { caller: 'stranger', presents: true });
  expect(precedence.waiting).toBeGreaterThan(10);
  const before = served.length;
  for (const name of many(4, 'paying')) request(name, { caller: 'payer', presents: true });
  expect(served.slice(before)).toEqual(['paying0', 'paying1']);
  for (let turn = 0; turn < 20; turn++) loop.turn();
  expect(served).toHaveLength(24);
});

it('forgets which callers have paid, the least recent first', () => {
  const { precedence, served, request } = opened({ callers_with_passes_max: 2 });
  for (const caller of ['first', 'second', 'third']) precedence.begin({}, caller);
  for (const name of many(20, 'stranger')) request(name, { caller: 'stranger', presents: true });
  for (const caller of ['first', 'second', 'third']) request(caller, { caller, presents: true });
  expect(served.slice(-2)).toEqual(['second', 'third']);
  expect(served).not.toContain('first');
});

it('lets no free request wait for longer than the maximum, while a paid call never ends', () => {
  const { loop, precedence, served, request } = opened({ wait_ms_max: 100 });
  precedence.begin({}, 'payer');
  for (const name of many(200, 'a')) request(name, { ms: 2 });
  for (let turn = 0; turn < 1_000; turn++) loop.turn(1);
  expect(served).toHaveLength(200);
  expect(precedence.late).toBeGreaterThan(0);
});

it('refuses what exceeds the bound of one caller or of all, and serves the others', () => {
  const { loop, precedence, served, request } = opened({ waiting_max: 5, waiting_per_caller_max: 3 });
  precedence.begin({}, 'payer');
  request('first');
  const entered = many(5, 'a').map(name => request(name) !== null);
  expect(entered).toEqual([true, true, true, false, false]);
  expect(many(3, 'b').map(name => request(name, { caller: 'b' }) !== null)).toEqual([true, true, false]);
  for (let turn = 0; turn < 200; turn++) loop.turn(1);
  expect(served).toHaveLength(6);
});

it('forgets a request whose client has disconnected', () => {
  const { loop, precedence, served, request } = opened();
  precedence.begin({}, 'payer');
  request('first');
  request('gone')?.();
  request('second');
  expect(precedence.waiting).toBe(1);
  for (let turn = 0; turn < 50; turn++) loop.turn(1);
  expect(served).toEqual(['first', 'second']);
});

const event = fc.oneof(
  fc.record({ kind: fc.constant('enter' as const), caller: fc.nat(3), presents: fc.boolean(), ms: fc.nat(3) }),
  fc.record({ kind: fc.constant('leave' as const), at: fc.nat(20) }),
  fc.record({ kind: fc.constant('begin' as const), caller: fc.nat(3) }),
  fc.record({ kind: fc.constant('end' as const), at: fc.nat(5) }),
  fc.record({ kind: fc.constant('turn' as const), ms: fc.nat(8) }),
);

it('serves each request once unless it has left before, in the order of its caller, and holds no more than its bounds', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 200 }), events => {
      const loop = manualLoop();
      const limits = { waiting_max: 12, waiting_per_caller_max: 5, wait_ms_max: 50 };
      const precedence = new Precedence(loop.turns, { ...precedenceLimits, ...limits });
      const entered: { readonly line: string; leave: () => void; runs: number; has_left: boolean }[] = [];
      const order = new Map<string, number[]>();
      const paid: object[] = [];
      for (const it of events) {
        if (it.kind === 'enter') {
          const at = entered.length;
          const line = `${it.caller} ${it.presents}`;
          const own = { line, leave: () => {}, runs: 0, has_left: false };
          const leave = precedence.enter(String(it.caller), it.presents, () => {
            own.runs++;
            loop.work(it.ms);
            // A caller whose payment was verified since passes its own requests that wait.
            if (!it.presents) order.set(line, [...(order.get(line) ?? []), at]);
          });
          if (leave === null) expect(own.runs).toBe(0);
          else entered.push(Object.assign(own, { leave }));
        } else if (it.kind === 'leave') {
          const own = entered[it.at];
          if (own) own.has_left ||= own.runs === 0;
          own?.leave();
        } else if (it.kind === 'begin') {
          paid.push({});
          precedence.begin(paid.at(-1) as object, String(it.caller));
        } else if (it.kind === 'end') precedence.end(paid[it.at] ?? {});
        else loop.turn(it.ms);
        expect(precedence.waiting).toBeLessThanOrEqual(2 * limits.waiting_max);
      }
      for (let turn = 0; turn < 200; turn++) loop.turn(8);
      expect(entered.map(({ runs }) => runs)).toEqual(entered.map(({ has_left }) => Number(!has_left)));
      for (const served of order.values()) expect(served).toEqual(served.toSorted((one, other) => one - other));
      expect(precedence.waiting).toBe(0);
    }),
  );
});
