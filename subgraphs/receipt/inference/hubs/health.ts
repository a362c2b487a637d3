import { limits } from '../../../../schema/limits.ts';

/**
 * How a hub has done of late in one modality, and what follows from it: pure, by the clock that is handed in.
 *
 * Neither opossum nor cockatiel does this: both read the system's clock, open and close around a function that they call
 * themselves, and refuse outright while they are open. Here an open circuit is no refusal but a place at the end of the
 * order, since a caller is better served by a hub that may be down than by nobody.
 */
export interface Health {
  /** How much of what it was asked of late it failed to answer: from 0 to 1, moving. */
  readonly failing: number;
  /** Moving; null until it has answered. */
  readonly answer_ms: number | null;
  /** The same of streams, to their first piece. */
  readonly first_piece_ms: number | null;
  readonly asked_at_ms: number;
  /** When `failing` was last moved. */
  readonly heard_at_ms: number;
  readonly circuit: Circuit;
}

export type Circuit =
  | { readonly kind: 'closed' }
  /** It is asked where nobody else is left, and from `until_ms` on by one call, as a probe. */
  | { readonly kind: 'open'; readonly until_ms: number; readonly rest_ms: number }
  /** The probe is under way. */
  | { readonly kind: 'half_open'; readonly rest_ms: number };

/** What is waited for: a whole answer, or the first piece of a stream. */
export type Awaited = 'answer_ms' | 'first_piece_ms';

/** The weight of the newest; four failures in a row open a circuit, and so does failing every other time. */
const WEIGHT = 0.2;
export const FAILING_OPENS = 0.5;
/** What is left of it when a circuit closes: one more failure does not open it again. */
const FAILING_ON_CLOSING = 0.25;

const CLOSED: Circuit = { kind: 'closed' };

export function unknownHealth(now_ms: number): Health {
  return {
    failing: 0,
    answer_ms: null,
    first_piece_ms: null,
    asked_at_ms: now_ms,
    heard_at_ms: now_ms,
    circuit: CLOSED,
  };
}

/** A failure weighs less and less as time goes by in which nothing was heard. */
export function failingNow({ failing, heard_at_ms }: Health, now_ms: number): number {
  return failing * 0.5 ** (Math.max(0, now_ms - heard_at_ms) / limits.hub_failing_half_life_ms);
}

export function mayBeProbed({ circuit }: Health, now_ms: number): boolean {
  return circuit.kind === 'open' && circuit.until_ms <= now_ms;
}

/** A call is on its way. Where its circuit is open and it may be probed, that call is the probe. */
export function asked(health: Health, now_ms: number): Health {
  const { circuit } = health;
  const probed = circuit.kind === 'open' && mayBeProbed(health, now_ms);
  return {
    ...health,
    asked_at_ms: now_ms,
    circuit: probed ? { kind: 'half_open', rest_ms: circuit.rest_ms } : circuit,
  };
}

/** Whoever answers is well, whatever was thought of it. */
export function answered(health: Health, now_ms: number, awaited: Awaited, ms: number): Health {
  const failing = failingNow(health, now_ms) * (1 - WEIGHT);
  const before_ms = health[awaited];
  return {
    ...health,
    [awaited]: before_ms === null ? ms : before_ms + WEIGHT * (ms - before_ms),
    failing: health.circuit.kind === 'closed' ? failing : Math.min(failing, FAILING_ON_CLOSING),
    heard_at_ms: now_ms,
    circuit: CLOSED,
  };
}

/** By a fault of its own. A probe that fails doubles the rest; what fails during a rest does not lengthen it. */
export function failed(health: Health, now_ms: number): Health {
  const before = failingNow(health, now_ms);
  const failing = before + WEIGHT * (1 - before);
  return { ...health, failing, heard_at_ms: now_ms, circuit: circuitAfter(health.circuit, failing, now_ms) };
}

function circuitAfter(circuit: Circuit, failing: number, now_ms: number): Circuit {
  switch (circuit.kind) {
    case 'closed':
      return failing < FAILING_OPENS ? circuit : opened(limits.hub_rest_ms, now_ms);
    case 'half_open':
      return opened(Math.min(2 * circuit.rest_ms, limits.hub_rest_ms_max), now_ms);
    case 'open':
      return circuit;
  }
}

function opened(rest_ms: number, now_ms: number): Circuit {
  return { kind: 'open', until_ms: now_ms + rest_ms, rest_ms };
}

/** Nothing was learnt of it: the request itself was refused, or nobody waited for the answer. The next may probe it. */
export function spared(health: Health, now_ms: number): Health {
  const { circuit } = health;
  if (circuit.kind !== 'half_open') return health;
  return { ...health, circuit: { kind: 'open', until_ms: now_ms, rest_ms: circuit.rest_ms } };
}
