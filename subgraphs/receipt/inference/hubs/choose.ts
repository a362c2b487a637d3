import { limits } from '../../../../schema/limits.ts';
import type { Candidate } from '../catalogue.ts';

/**
 * Recent performance of a hub in one kind of work. All functions of this file are pure: the time is an argument.
 *
 * The packages opossum and cockatiel do not fit: both read the system's clock, wrap the function that they call, and refuse calls while a
 * circuit is open. Here an open circuit only moves a hub to the end of the order, because a hub that may be down serves a caller better
 * than no hub.
 */
export interface HubHealth {
  /** Moving average of the share of requests that failed, from 0 to 1. */
  readonly failing: number;
  /** Moving average of the time until a whole answer. Null until the hub has given one. */
  readonly answer_ms: number | null;
  /** Moving average of the time until the first piece of a stream. Null until the hub has sent one. */
  readonly first_piece_ms: number | null;
  readonly asked_at_ms: number;
  /** Time at which `failing` was last changed. */
  readonly heard_at_ms: number;
  readonly circuit: Circuit;
}

export type Circuit =
  | { readonly kind: 'closed' }
  /** The hub is called only if no other hub is left. From `until_ms` on, one call probes it. */
  | { readonly kind: 'open'; readonly until_ms: number; readonly rest_ms: number }
  /** The probe is in progress. */
  | { readonly kind: 'half_open'; readonly rest_ms: number };

/** Latency that is measured: of a whole answer, or of the first piece of a stream. */
export type LatencyKind = 'answer_ms' | 'first_piece_ms';

/**
 * Weight of the newest result in a moving average. With this weight, four failures in a row open a circuit, and so does a failure of every
 * second request.
 */
const WEIGHT = 0.2;
export const FAILING_OPENS = 0.5;
/** Maximum of `failing` when a circuit closes, so that one more failure does not open the circuit again. */
const FAILING_ON_CLOSING = 0.25;

const CLOSED: Circuit = { kind: 'closed' };

export function unknownHealth(now_ms: number): HubHealth {
  return {
    failing: 0,
    answer_ms: null,
    first_piece_ms: null,
    asked_at_ms: now_ms,
    heard_at_ms: now_ms,
    circuit: CLOSED,
  };
}

/** Value of `failing` at `now_ms`. It halves in every `hub_failing_half_life_ms` since the last result. */
export function failureWeight({ failing, heard_at_ms }: HubHealth, now_ms: number): number {
  return failing * 0.5 ** (Math.max(0, now_ms - heard_at_ms) / limits.hub_failing_half_life_ms);
}

export function mayBeProbed({ circuit }: HubHealth, now_ms: number): boolean {
  return circuit.kind === 'open' && circuit.until_ms <= now_ms;
}

/** Health after a call was sent to the hub. If the circuit is open and may be probed, this call is the probe. */
export function afterAsking(health: HubHealth, now_ms: number): HubHealth {
  const { circuit } = health;
  const probed = circuit.kind === 'open' && mayBeProbed(health, now_ms);
  return {
    ...health,
    asked_at_ms: now_ms,
    circuit: probed ? { kind: 'half_open', rest_ms: circuit.rest_ms } : circuit,
  };
}

/** Health after an answer. It closes the circuit, whatever the state of the circuit was. */
export function afterAnswer(health: HubHealth, now_ms: number, awaited: LatencyKind, ms: number): HubHealth {
  const failing = failureWeight(health, now_ms) * (1 - WEIGHT);
  const before_ms = health[awaited];
  return {
    ...health,
    [awaited]: before_ms === null ? ms : before_ms + WEIGHT * (ms - before_ms),
    failing: health.circuit.kind === 'closed' ? failing : Math.min(failing, FAILING_ON_CLOSING),
    heard_at_ms: now_ms,
    circuit: CLOSED,
  };
}

/**
 * Health after a failure that is the hub's fault. A probe that fails doubles the rest, up to a maximum. Other failures during a rest do not
 * lengthen it.
 */
export function afterFailure(health: HubHealth, now_ms: number): HubHealth {
  const before = failureWeight(health, now_ms);
  const failing = before + WEIGHT * (1 - before);
  return { ...health, failing, heard_at_ms: now_ms, circuit: circuitAfter(health.circuit, failing, now_ms) };
}

function circuitAfter(circuit: Circuit, failing: number, now_ms: number): Circuit {
  switch (circuit.kind) {
    case 'closed':
      return failing < FAILING_OPENS ? circuit : openCircuit(limits.hub_rest_ms, now_ms);
    case 'half_open':
      return openCircuit(Math.min(2 * circuit.rest_ms, limits.hub_rest_ms_max), now_ms);
    case 'open':
      return circuit;
  }
}

function openCircuit(rest_ms: number, now_ms: number): Circuit {
  return { kind: 'open', until_ms: now_ms + rest_ms, rest_ms };
}

/**
 * Health after a call that shows nothing about the hub, because the request itself was refused or the caller left. If this call was the
 * probe, the next call may probe the hub.
 */
export function afterNothing(health: HubHealth, now_ms: number): HubHealth {
  const { circuit } = health;
  if (circuit.kind !== 'half_open') return health;
  return { ...health, circuit: { kind: 'open', until_ms: now_ms, rest_ms: circuit.rest_ms } };
}

/** A candidate at the time of the choice. */
export interface Contender {
  readonly candidate: Candidate;
  readonly health: HubHealth;
  /** Requests that wait for a socket of the hub, per socket. */
  readonly crowding: number;
}

/** Everything on which the order of hubs depends: the same facts give the same order. */
export interface HubOrderFacts {
  readonly contenders: readonly Contender[];
  readonly awaited: LatencyKind;
  /** Hub that was tried first the last time. */
  readonly leader: string | null;
  readonly now_ms: number;
  /** Random number from 0 to 1. */
  readonly draw: number;
  /** Whether this call may first try a hub with little recent data, because another hub can still answer it after a failure. */
  readonly may_try: boolean;
}

export interface HubOrder {
  readonly order: readonly Candidate[];
  /** Hub that leads now. Null if no circuit is closed. */
  readonly leader: string | null;
}

/** Chooses the order in which hubs are tried. Hubs whose circuits are not closed come last, the one whose rest ends soonest first. */
export function choose(choosing: HubOrderFacts): HubOrder {
  const { contenders } = choosing;
  const standing = contenders.filter(({ health }) => health.circuit.kind === 'closed');
  const resting = contenders.filter(contender => !standing.includes(contender)).sort(leastBadFirst);
  const [leader = null, ...others] = rankContenders(standing, choosing);
  const order = [...(leader ? [leader] : []), ...others, ...resting];
  const tried = leader && choosing.may_try ? contenderToTry(others, resting, choosing) : undefined;
  const asked = tried ? [tried, ...order.filter(contender => contender !== tried)] : order;
  return { order: asked.map(({ candidate }) => candidate), leader: leader?.candidate.hub ?? null };
}

/** Sorts hubs by the expected time until an answer. The leader stays first until another hub is clearly better. */
function rankContenders(standing: readonly Contender[], choosing: HubOrderFacts): readonly Contender[] {
  const led = standing.find(({ candidate }) => candidate.hub === choosing.leader) ?? standing[0];
  if (!led) return [];
  const unknown_ms = knownMs(led.health, choosing.awaited) ?? 0;
  const costs_ms = new Map(standing.map(contender => [contender, costOf(contender, unknown_ms, choosing)]));
  const costing = (contender: Contender) => costs_ms.get(contender) ?? 0;
  const order = [...standing].sort((one, other) => costing(one) - costing(other));
  const [best = led] = order;
  const notably = costing(led) - costing(best) > limits.hub_lead_ms_min && costing(best) < costing(led) / 2;
  return notably ? order : [led, ...order.filter(contender => contender !== led)];
}

/**
 * Expected cost of a call in milliseconds, which includes the hub's recent failures. A hub that has not answered yet counts as just as fast
 * as the leader.
 */
function costOf({ health, crowding }: Contender, unknown_ms: number, { awaited, now_ms }: HubOrderFacts): number {
  const answer_ms = knownMs(health, awaited) ?? unknown_ms;
  return answer_ms * (1 + crowding) + failureWeight(health, now_ms) * limits.hub_failure_costs_ms;
}

/** Average latency of the awaited kind. If it is unknown, that of the other kind is the estimate. Null if both are unknown. */
function knownMs({ answer_ms, first_piece_ms }: HubHealth, awaited: LatencyKind): number | null {
  return awaited === 'answer_ms' ? (answer_ms ?? first_piece_ms) : (first_piece_ms ?? answer_ms);
}

/**
 * Hub to try before the leader, so that a failed or slow hub can recover: one whose rest is over, or occasionally the one that was idle
 * longest. An idle hub gets at most one such call per `hub_trial_every_ms`. Undefined if there is none.
 */
function contenderToTry(
  others: readonly Contender[],
  resting: readonly Contender[],
  { now_ms, draw }: HubOrderFacts,
): Contender | undefined {
  const rested = resting.find(({ health }) => mayBeProbed(health, now_ms));
  if (rested) return rested;
  if (draw >= limits.hub_trial_share) return undefined;
  const [stalest] = [...others].sort((one, other) => one.health.asked_at_ms - other.health.asked_at_ms);
  return stalest && now_ms - stalest.health.asked_at_ms >= limits.hub_trial_every_ms ? stalest : undefined;
}

function leastBadFirst(one: Contender, other: Contender): number {
  // The difference of two equal infinities is NaN.
  return dueMs(one) === dueMs(other) ? 0 : dueMs(one) - dueMs(other);
}

function dueMs({ health: { circuit } }: Contender): number {
  return circuit.kind === 'open' ? circuit.until_ms : Number.NEGATIVE_INFINITY;
}
