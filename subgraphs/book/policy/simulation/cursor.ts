import { atomicAmount } from '../../../../schema/amount.ts';
import { canonicalHash, canonicalJson, type JsonObject } from '../../../../schema/canonical-json.ts';
import type { Window } from '../../../../schema/clock-window.ts';
import { Refusal } from '../../../../schema/errors.ts';
import type { AgentId } from '../../../../schema/ids.ts';
import type { TriedTerms } from '../../../../schema/requests/simulation.ts';
import type { Vault } from '../../../vault.ts';
import type { SimulatedTime, SimulationSpan } from './read.ts';
import type { CountedSum, SimulationState } from './simulate.ts';

/*
 * A cursor contains the encrypted state of a simulation, so that the service stores nothing and no client can forge it. A cursor is
 * valid for one book and one request only.
 */

const labelOf = (agent_id: AgentId) => `policy-simulation:${agent_id}`;

interface Question {
  readonly agent_id: AgentId;
  readonly tried: TriedTerms;
  readonly time: SimulatedTime;
}

/** Hash of the request that a cursor belongs to. */
function questionHash({ tried: { policy, budget_atomic }, time: { from, to } }: Question): string {
  const budget = budget_atomic?.toString() ?? null;
  return canonicalHash({
    policy: policy as JsonObject,
    budget,
    from: from?.toISOString() ?? null,
    to: to?.toISOString() ?? null,
  });
}

export function cursorOf(vault: Pick<Vault, 'seal'>, question: Question, { state, last_seq }: SimulationSpan): string {
  const { spent_atomic, hour, day, considered, blocked, ...counts } = state;
  const kept = {
    ...counts,
    last_seq,
    question: questionHash(question),
    spent_atomic: spent_atomic.toString(),
    hour: windowJson(hour),
    day: windowJson(day),
    considered: countedJson(considered),
    blocked: Object.fromEntries(Object.entries(blocked).map(([code, counted]) => [code, countedJson(counted)])),
  };
  return vault.seal(canonicalJson(kept), labelOf(question.agent_id)).toString('base64url');
}

type CursorState = Omit<SimulationState, 'spent_atomic' | 'hour' | 'day' | 'considered' | 'blocked'> & {
  readonly last_seq: number;
  readonly question: string;
  readonly spent_atomic: string;
  readonly hour: ReturnType<typeof windowJson>;
  readonly day: ReturnType<typeof windowJson>;
  readonly considered: ReturnType<typeof countedJson>;
  readonly blocked: Readonly<Record<string, ReturnType<typeof countedJson>>>;
};

/** Reads a cursor. @throws Refusal invalid_request unless this service made it for this book and this request */
export function spanOfCursor(vault: Pick<Vault, 'open'>, question: Question, cursor: string): SimulationSpan {
  const {
    last_seq,
    question: hash,
    spent_atomic,
    hour,
    day,
    considered,
    blocked,
    ...counts
  } = openCursor(vault, question, cursor);
  if (hash !== questionHash(question)) throw wrong('belongs to a simulation with another policy, from or to');
  const state = {
    ...counts,
    spent_atomic: atomicAmount(BigInt(spent_atomic)),
    hour: windowOf(hour),
    day: windowOf(day),
    considered: countedOf(considered),
    blocked: Object.fromEntries(Object.entries(blocked).map(([code, counted]) => [code, countedOf(counted)])),
  };
  return { state, last_seq };
}

function openCursor(vault: Pick<Vault, 'open'>, { agent_id }: Question, cursor: string): CursorState {
  try {
    return JSON.parse(vault.open(Buffer.from(cursor, 'base64url'), labelOf(agent_id)).toString('utf8')) as CursorState;
  } catch {
    throw wrong('is not a cursor of a simulation of this book');
  }
}

function wrong(fault: string): Refusal {
  return new Refusal('invalid_request', { param: 'cursor', detail: `cursor ${fault}.` });
}

const windowJson = ({ start_ms, atomic }: Window) => ({ start_ms, atomic: atomic.toString() });
const windowOf = ({ start_ms, atomic }: ReturnType<typeof windowJson>): Window => ({
  start_ms,
  atomic: atomicAmount(BigInt(atomic)),
});
const countedJson = ({ count, atomic }: CountedSum) => ({ count, atomic: atomic.toString() });
const countedOf = ({ count, atomic }: ReturnType<typeof countedJson>): CountedSum => ({
  count,
  atomic: atomicAmount(BigInt(atomic)),
});
