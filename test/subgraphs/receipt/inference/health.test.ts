import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../../schema/limits.ts';
import {
  afterAnswer,
  afterAsking,
  afterFailure,
  afterNothing,
  FAILING_OPENS,
  failureWeight,
  type HubHealth,
  mayBeProbed,
  unknownHealth,
} from '../../../../subgraphs/receipt/inference/hubs/choose.ts';

const events = fc.array(
  fc.record({
    after_ms: fc.integer({ min: 0, max: 2 * limits.hub_rest_ms_max }),
    what: fc.constantFrom('asked', 'answered', 'failed', 'spared'),
    ms: fc.integer({ min: 0, max: 60_000 }),
  }),
  { maxLength: 60 },
);
type Event = typeof events extends fc.Arbitrary<readonly (infer E)[]> ? E : never;

function moved(health: HubHealth, now_ms: number, { what, ms }: Event): HubHealth {
  if (what === 'answered') return afterAnswer(health, now_ms, 'answer_ms', ms);
  return { asked: afterAsking, failed: afterFailure, spared: afterNothing }[what](health, now_ms);
}

/** Every state that the health goes through, together with the previous one. */
function* lived(all: readonly Event[]) {
  let now_ms = 0;
  let health = unknownHealth(now_ms);
  for (const event of all) {
    now_ms += event.after_ms;
    const before = health;
    health = moved(before, now_ms, event);
    yield { before, health, now_ms, event };
  }
}

const open = (now_ms = 0) => {
  let health = unknownHealth(now_ms);
  while (health.circuit.kind === 'closed') health = afterFailure(health, now_ms);
  return health;
};

describe('the health of a hub, whatever happens to it', () => {
  it('stays within its bounds, and a closed circuit is one below the threshold', () => {
    fc.assert(
      fc.property(events, all => {
        for (const { health, now_ms } of lived(all)) {
          expect(health.failing).toBeGreaterThanOrEqual(0);
          expect(health.failing).toBeLessThanOrEqual(1);
          const { circuit } = health;
          if (circuit.kind === 'closed') expect(health.failing).toBeLessThan(FAILING_OPENS);
          else {
            expect(circuit.rest_ms).toBeGreaterThanOrEqual(limits.hub_rest_ms);
            expect(circuit.rest_ms).toBeLessThanOrEqual(limits.hub_rest_ms_max);
          }
          if (circuit.kind === 'open') expect(circuit.until_ms - now_ms).toBeLessThanOrEqual(circuit.rest_ms);
        }
      }),
    );
  });

  it('changes only as it may: an answer closes, a fault of its own opens, nothing else does either', () => {
    fc.assert(
      fc.property(events, all => {
        for (const { before, health, now_ms, event } of lived(all)) {
          const [was, is] = [before.circuit.kind, health.circuit.kind];
          if (event.what === 'answered') expect(is).toBe('closed');
          if (is === 'closed' && was !== 'closed') expect(event.what).toBe('answered');
          if (is === 'half_open' && was !== 'half_open') expect([event.what, was]).toEqual(['asked', 'open']);
          if (is === 'open' && was === 'closed') expect(event.what).toBe('failed');
          if (event.what === 'spared') expect(failureWeight(health, now_ms)).toBe(failureWeight(before, now_ms));
        }
      }),
    );
  });

  it('one probe at a time: until it is known how it went there is no other', () => {
    fc.assert(
      fc.property(events, all => {
        for (const { before, health, now_ms, event } of lived(all)) {
          if (before.circuit.kind !== 'half_open') continue;
          expect(mayBeProbed(before, now_ms)).toBe(false);
          if (event.what === 'asked') expect(health.circuit).toEqual(before.circuit);
        }
      }),
    );
  });

  it('there is always a way back: it rests, is probed, answers, and is as good as any', () => {
    fc.assert(
      fc.property(events, all => {
        const { health = unknownHealth(0), now_ms = 0 } = [...lived(all)].at(-1) ?? {};
        const rested_ms = now_ms + limits.hub_rest_ms_max;
        const probed = afterAsking(
          health.circuit.kind === 'half_open' ? afterNothing(health, now_ms) : health,
          rested_ms,
        );
        expect(probed.circuit.kind).not.toBe('open');
        expect(afterAnswer(probed, rested_ms, 'answer_ms', 1).circuit.kind).toBe('closed');
      }),
    );
  });
});

describe('a circuit', () => {
  it('opens after four failures in a row, not after one or two, and not where as many calls are answered', () => {
    const failures = (count: number) => {
      let health = unknownHealth(0);
      for (let failure = 0; failure < count; failure++) health = afterFailure(health, 0);
      return health.circuit.kind;
    };
    expect([1, 2, 3, 4].map(failures)).toEqual(['closed', 'closed', 'closed', 'open']);
    let mostly_well = unknownHealth(0);
    for (let call = 0; call < 100; call++)
      mostly_well = call % 4 === 0 ? afterFailure(mostly_well, 0) : afterAnswer(mostly_well, 0, 'answer_ms', 5);
    expect(mostly_well.circuit.kind).toBe('closed');
  });

  it('does not open for failures that lie far apart', () => {
    let health = unknownHealth(0);
    for (let failure = 1; failure < 50; failure++)
      health = afterFailure(health, failure * 4 * limits.hub_failing_half_life_ms);
    expect(health.circuit.kind).toBe('closed');
  });

  it('rests twice as long after each failed probe, up to a bound; what fails in a rest does not lengthen it', () => {
    let health = open();
    const rests: number[] = [];
    let now_ms = 0;
    for (let probe = 0; probe < 8; probe++) {
      const { circuit } = health;
      if (circuit.kind !== 'open') throw new Error(circuit.kind);
      rests.push(circuit.until_ms - now_ms);
      expect(afterFailure(health, now_ms).circuit).toEqual(circuit);
      now_ms = circuit.until_ms;
      health = afterFailure(afterAsking(health, now_ms), now_ms);
    }
    expect(rests).toEqual([10, 20, 40, 80, 160, 300, 300, 300].map(seconds => seconds * 1_000));
  });

  it('whose probe taught nothing may be probed again at once', () => {
    const probing = afterAsking(open(), limits.hub_rest_ms);
    const left = afterNothing(probing, limits.hub_rest_ms + 5);
    expect(mayBeProbed(left, limits.hub_rest_ms + 5)).toBe(true);
    expect(afterAsking(left, limits.hub_rest_ms + 5).circuit).toEqual(probing.circuit);
  });
});
