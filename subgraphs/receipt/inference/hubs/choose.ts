import { limits } from '../../../../schema/limits.ts';
import type { Candidate } from '../catalogue.ts';
import { type Awaited, failingNow, type Health, mayBeProbed } from './health.ts';

/** All that an order of asking depends on: the same of it gives the same order. */
export interface Choosing {
  readonly candidates: readonly Candidate[];
  readonly health: (hub: string) => Health;
  /** How many times over a hub's sockets are taken by those who wait for one. */
  readonly crowding: (hub: string) => number;
  readonly awaited: Awaited;
  /** Who was asked first the last time. */
  readonly leader: string | null;
  readonly now_ms: number;
  /** From 0 to 1, by chance. */
  readonly draw: number;
  /** Whether this call may be the one that tries a hub of which little is known: it can be answered by another. */
  readonly may_try: boolean;
}

export interface Chosen {
  readonly order: readonly Candidate[];
  /** Null where every circuit is open: nobody leads. */
  readonly leader: string | null;
}

/** Who is asked first, and who if that one fails. Whoever is open comes last, the least bad of them first. */
export function choose(choosing: Choosing): Chosen {
  const { candidates, health } = choosing;
  const standing = candidates.filter(({ hub }) => health(hub).circuit.kind === 'closed');
  const resting = candidates.filter(candidate => !standing.includes(candidate)).sort(leastBadFirst(health));
  const [leader = null, ...others] = ranked(standing, choosing);
  const order = [...(leader ? [leader] : []), ...others, ...resting];
  const tried = leader && choosing.may_try ? triedOut(others, resting, choosing) : undefined;
  return {
    order: tried ? [tried, ...order.filter(candidate => candidate !== tried)] : order,
    leader: leader?.hub ?? null,
  };
}

/** By what an answer is expected to cost in time; who leads goes on until somebody is notably better. */
function ranked(standing: readonly Candidate[], choosing: Choosing): readonly Candidate[] {
  const led = standing.find(({ hub }) => hub === choosing.leader) ?? standing[0];
  if (!led) return [];
  const unknown_ms = knownMs(choosing.health(led.hub), choosing.awaited) ?? 0;
  const cost_ms = new Map(standing.map(({ hub }) => [hub, costOf(hub, unknown_ms, choosing)]));
  const costing = ({ hub }: Candidate) => cost_ms.get(hub) ?? 0;
  const order = [...standing].sort((one, other) => costing(one) - costing(other));
  const [best = led] = order;
  const notably = costing(led) - costing(best) > limits.hub_lead_ms_min && costing(best) < costing(led) / 2;
  return notably ? order : [led, ...order.filter(candidate => candidate !== led)];
}

/** A hub that has not answered yet is taken for as fast as the one that leads: no better, no worse. */
function costOf(hub: string, unknown_ms: number, { health, awaited, crowding, now_ms }: Choosing): number {
  const of_hub = health(hub);
  const answer_ms = knownMs(of_hub, awaited) ?? unknown_ms;
  return answer_ms * (1 + crowding(hub)) + failingNow(of_hub, now_ms) * limits.hub_failure_costs_ms;
}

/** A stream tells something of whole answers, and they of a stream. */
function knownMs({ answer_ms, first_piece_ms }: Health, awaited: Awaited): number | null {
  return awaited === 'answer_ms' ? (answer_ms ?? first_piece_ms) : (first_piece_ms ?? answer_ms);
}

/**
 * The way back for whoever has failed or was slow: a circuit that has rested is probed, and now and then a call goes first
 * to a hub that has not been asked for long; never two within that time.
 */
function triedOut(
  others: readonly Candidate[],
  resting: readonly Candidate[],
  { health, now_ms, draw }: Choosing,
): Candidate | undefined {
  const rested = resting.find(({ hub }) => mayBeProbed(health(hub), now_ms));
  if (rested) return rested;
  if (draw >= limits.hub_trial_share) return undefined;
  const since = ({ hub }: Candidate) => health(hub).asked_at_ms;
  const [stalest] = [...others].sort((one, other) => since(one) - since(other));
  return stalest && now_ms - since(stalest) >= limits.hub_trial_every_ms ? stalest : undefined;
}

function leastBadFirst(health: Choosing['health']) {
  const due_ms = ({ hub }: Candidate) => {
    const { circuit } = health(hub);
    return circuit.kind === 'open' ? circuit.until_ms : Number.NEGATIVE_INFINITY;
  };
  // Infinity less infinity is no number.
  return (one: Candidate, other: Candidate) => (due_ms(one) === due_ms(other) ? 0 : due_ms(one) - due_ms(other));
}
