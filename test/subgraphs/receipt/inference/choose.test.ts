import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../../schema/limits.ts';
import {
  choose,
  type HubHealth,
  type HubOrderFacts,
  unknownHealth,
} from '../../../../subgraphs/receipt/inference/hubs/choose.ts';

const NOW_MS = 10_000_000;
const names = ['alpha', 'beta', 'gamma', 'delta'];
const well: HubHealth = { ...unknownHealth(NOW_MS), answer_ms: 500 };
const open = (until_ms: number): HubHealth => ({
  ...well,
  failing: 0.6,
  circuit: { kind: 'open', until_ms, rest_ms: limits.hub_rest_ms },
});

type ChoiceInput = Partial<HubOrderFacts> & { readonly crowding?: Readonly<Record<string, number>> };

/** Facts for choosing among these hubs. Hubs that are not named are healthy and not crowded. */
function choosing(healths: Readonly<Record<string, HubHealth>>, given: ChoiceInput = {}): HubOrderFacts {
  const { crowding = {}, ...others } = given;
  return {
    contenders: names.slice(0, Math.max(2, Object.keys(healths).length)).map(hub => ({
      candidate: { hub, model: `${hub}-model` },
      health: healths[hub] ?? well,
      crowding: crowding[hub] ?? 0,
    })),
    awaited: 'answer_ms',
    leader: null,
    now_ms: NOW_MS,
    draw: 1 - 2 ** -32,
    may_try: true,
    ...others,
  };
}
const ordered = (healths: Readonly<Record<string, HubHealth>>, given: ChoiceInput = {}) =>
  choose(choosing(healths, given)).order.map(({ hub }) => hub);

const circuit = fc.oneof(
  fc.constant({ kind: 'closed' } as const),
  fc.record({
    kind: fc.constant('open' as const),
    until_ms: fc.integer({ min: NOW_MS - 100_000, max: NOW_MS + 100_000 }),
    rest_ms: fc.constant(limits.hub_rest_ms),
  }),
  fc.record({ kind: fc.constant('half_open' as const), rest_ms: fc.constant(limits.hub_rest_ms) }),
);
const health: fc.Arbitrary<HubHealth> = fc.record({
  failing: fc.double({ min: 0, max: 1, noNaN: true }),
  answer_ms: fc.option(fc.integer({ min: 0, max: 60_000 })),
  first_piece_ms: fc.option(fc.integer({ min: 0, max: 60_000 })),
  asked_at_ms: fc.integer({ min: 0, max: NOW_MS }),
  heard_at_ms: fc.integer({ min: 0, max: NOW_MS }),
  circuit,
});
const anyChoosing = fc
  .record({
    healths: fc.array(health, { minLength: 4, maxLength: 4 }),
    leader: fc.option(fc.constantFrom(...names)),
    draw: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    may_try: fc.boolean(),
    awaited: fc.constantFrom('answer_ms' as const, 'first_piece_ms' as const),
  })
  .map(({ healths, ...given }) =>
    choosing(Object.fromEntries(names.map((name, at) => [name, healths[at] ?? well])), given),
  );

describe('the order of asking', () => {
  it('holds every candidate once, and is the same for the same figures', () => {
    fc.assert(
      fc.property(anyChoosing, given => {
        const chosen = choose(given);
        expect([...chosen.order].sort((a, b) => a.hub.localeCompare(b.hub))).toEqual(
          given.contenders.map(({ candidate }) => candidate).sort((a, b) => a.hub.localeCompare(b.hub)),
        );
        expect(choose(given)).toEqual(chosen);
      }),
    );
  });

  it('has no resting hub before one that is well, but for a probe that is due', () => {
    fc.assert(
      fc.property(anyChoosing, given => {
        const circuits = choose(given).order.flatMap(asked =>
          given.contenders.filter(({ candidate }) => candidate === asked).map(contender => contender.health.circuit),
        );
        const [first, ...others] = circuits.map(({ kind }) => kind);
        const well_after = others.lastIndexOf('closed');
        expect(others.slice(0, well_after + 1).every(kind => kind === 'closed')).toBe(true);
        if (first === 'closed' || well_after < 0) return;
        expect(given.may_try).toBe(true);
        expect(circuits[0]).toMatchObject({ kind: 'open' });
        expect((circuits[0] as { until_ms: number }).until_ms).toBeLessThanOrEqual(NOW_MS);
      }),
    );
  });

  it('does not thrash: asked again with the leader it gave, the same one leads', () => {
    fc.assert(
      fc.property(anyChoosing, given => {
        const { leader } = choose(given);
        expect(choose({ ...given, leader }).leader).toBe(leader);
      }),
    );
  });
});

describe('who is asked first', () => {
  it('of hubs that nobody has asked yet: as they are configured', () => {
    const unknown = unknownHealth(NOW_MS);
    expect(ordered({ alpha: unknown, beta: unknown, gamma: unknown })).toEqual(['alpha', 'beta', 'gamma']);
  });

  it('the one that leads, until another is notably better', () => {
    const beta = (answer_ms: number) => ordered({ alpha: well, beta: { ...well, answer_ms } }, { leader: 'alpha' })[0];
    expect([490, 300, 251, 249, 10].map(beta)).toEqual(['alpha', 'alpha', 'alpha', 'beta', 'beta']);
    const quick = { ...well, answer_ms: 90 };
    expect(ordered({ alpha: quick, beta: { ...well, answer_ms: 1 } }, { leader: 'alpha' })[0]).toBe('alpha');
  });

  it('not one that failed a moment ago; after a while it counts as well again', () => {
    const stumbled = { ...well, failing: 0.2 };
    expect(ordered({ alpha: stumbled, beta: well }, { leader: 'alpha' })[0]).toBe('beta');
    const long_ago = NOW_MS - 10 * limits.hub_failing_half_life_ms;
    expect(ordered({ alpha: { ...stumbled, heard_at_ms: long_ago }, beta: well }, { leader: 'alpha' })[0]).toBe(
      'alpha',
    );
  });

  it('not one at which callers queue', () => {
    expect(ordered({ alpha: well, beta: well }, { leader: 'alpha', crowding: { alpha: 3 } })[0]).toBe('beta');
  });

  it('where every circuit is open, the one whose rest ends first; nobody leads', () => {
    const chosen = choose(choosing({ alpha: open(NOW_MS + 9_000), beta: open(NOW_MS + 2_000) }));
    expect(chosen).toMatchObject({ order: [{ hub: 'beta' }, { hub: 'alpha' }], leader: null });
  });
});

describe('the way back', () => {
  it('a hub that has rested is probed first, by a call that another can answer', () => {
    const healths = { alpha: well, beta: open(NOW_MS) };
    expect(ordered(healths)).toEqual(['beta', 'alpha']);
    expect(ordered(healths, { may_try: false })).toEqual(['alpha', 'beta']);
    expect(ordered({ ...healths, beta: open(NOW_MS + 1) })).toEqual(['alpha', 'beta']);
  });

  it('a slow hub is tried now and then, if it has not been asked for long', () => {
    const slow = { ...well, answer_ms: 20_000 };
    const stale = { ...slow, asked_at_ms: NOW_MS - limits.hub_trial_every_ms };
    const tried = { leader: 'alpha', draw: 0 };
    expect(ordered({ alpha: well, beta: stale }, tried)[0]).toBe('beta');
    expect(ordered({ alpha: well, beta: slow }, tried)[0]).toBe('alpha');
    expect(ordered({ alpha: well, beta: stale }, { ...tried, draw: limits.hub_trial_share })[0]).toBe('alpha');
    expect(ordered({ alpha: well, beta: stale }, { ...tried, may_try: false })[0]).toBe('alpha');
  });

  it('trials lead nobody astray: the leader stays who it was', () => {
    const stale = { ...well, asked_at_ms: 0 };
    expect(choose(choosing({ alpha: well, beta: stale }, { leader: 'alpha', draw: 0 })).leader).toBe('alpha');
  });
});
