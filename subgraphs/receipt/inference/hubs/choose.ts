import { limits } from '../../../../schema/limits.ts';
import type { Candidate } from '../catalogue.ts';

/**
 * Recent performance of a hub in one modality, and the choice that follows from it: pure, with the clock as an
 * argument.
 *
 * Neither opossum nor cockatiel does this: both read the system's clock, wrap the function that they call, and refuse
 * calls while open. Here an open circuit only moves a hub to the end of the order, since a caller is better served by a
 * hub that may be down than by none.
 */
export interface HubHealth {
  /** Moving share of recent requests that failed, from 0 to 1. */
  readonly failing: number;
  /** Moving; null until it has answered. */
  readonly answer_ms: number | null;
  /** The same of streams, to their first piece. */
  readonly first_piece_ms: number | null;
  readonly asked_at_ms: number;
  /** Time `failing` was last changed. */
  readonly heard_at_ms: number;
  readonly circuit: Circuit;
}

export type Circuit =
  | { readonly kind: 'closed' }
  /** It is called only if no other hub is left, and from `until_ms` on by one call as a probe. */
  | { readonly kind: 'open'; readonly until_ms: number; readonly rest_ms: number }
  /** The probe is in progress. */
  | { readonly kind: 'half_open'; readonly rest_ms: number };

/** Latency that is measured: of a whole answer, or of the first piece of a stream. */
export type LatencyKind = 'answer_ms' | 'first_piece_ms';

/** The weight of the newest; four failures in a row open a circuit, and so does failing every other time. */
const WEIGHT = 0.2;
export const FAILING_OPENS = 0.5;
/** What is left of it when a circuit closes: one more failure does not open it again. */
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

/** A failure weighs less the longer no result has been received since. */
export function failureWeight({ failing, heard_at_ms }: HubHealth, now_ms: number): number {
  return failing * 0.5 ** (Math.max(0, now_ms - heard_at_ms) / limits.hub_failing_half_life_ms);
}

export function mayBeProbed({ circuit }: HubHealth, now_ms: number): boolean {
  return circuit.kind === 'open' && circuit.until_ms <= now_ms;
}

/** A call is on its way. Where its circuit is open and it may be probed, that call is the probe. */
export function afterAsking(health: HubHealth, now_ms: number): HubHealth {
  const { circuit } = health;
  const probed = circuit.kind === 'open' && mayBeProbed(health, now_ms);
  return {
    ...health,
    asked_at_ms: now_ms,
    circuit: probed ? { kind: 'half_open', rest_ms: circuit.rest_ms } : circuit,
  };
}

/** A hub that answers is healthy, whatever its state was. */
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

/** By a fault of its own. A probe that fails doubles the rest; what fails during a rest does not lengthen it. */
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

/** Nothing was learned: the request itself was refused, or the caller left. The next call may probe the hub. */
export function afterNothing(health: HubHealth, now_ms: number): HubHealth {
  const { circuit } = health;
  if (circuit.kind !== 'half_open') return health;
  return { ...health, circuit: { kind: 'open', until_ms: now_ms, rest_ms: circuit.rest_ms } };
}

/** Candidates at the time of the choice. */
export interface Contender {
  readonly candidate: Candidate;
  readonly health: HubHealth;
  /** How many times over its sockets are taken by those who wait for one. */
  readonly crowding: number;
}

/** All that the order of hubs depends on: the same facts give the same order. */
export interface HubOrderFacts {
  readonly contenders: readonly Contender[];
  readonly awaited: LatencyKind;
  /** Hub that was tried first the last time. */
  readonly leader: string | null;
  readonly now_ms: number;
  /** From 0 to 1, random. */
  readonly draw: number;
  /** Whether this call may try a hub with little data: another hub can answer it. */
  readonly may_try: boolean;
}

export interface HubOrder {
  readonly order: readonly Candidate[];
  /** Null if every circuit is open. */
  readonly leader: string | null;
}

/** Order in which hubs are tried. Those with open circuits come last, the least bad first. */
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

/** By the expected time to an answer; the leader stays until another is clearly better. */
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

/** A hub that has not answered yet is taken for as fast as the one that leads: no better, no worse. */
function costOf({ health, crowding }: Contender, unknown_ms: number, { awaited, now_ms }: HubOrderFacts): number {
  const answer_ms = knownMs(health, awaited) ?? unknown_ms;
  return answer_ms * (1 + crowding) + failureWeight(health, now_ms) * limits.hub_failure_costs_ms;
}

/** Streams and whole answers each give an estimate for the other. */
function knownMs({ answer_ms, first_piece_ms }: HubHealth, awaited: LatencyKind): number | null {
  return awaited === 'answer_ms' ? (answer_ms ?? first_piece_ms) : (first_piece_ms ?? answer_ms);
}

/**
 * The way back for a failed or slow hub: a circuit that has rested is probed, and occasionally a call goes first to an
 * idle hub; never two within that time.
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
  // Infinity less infinity is no number.
  return dueMs(one) === dueMs(other) ? 0 : dueMs(one) - dueMs(other);
}

function dueMs({ health: { circuit } }: Contender): number {
  return circuit.kind === 'open' ? circuit.until_ms : Number.NEGATIVE_INFINITY;
}
