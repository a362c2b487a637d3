import { limits } from '../../schema/limits.ts';
import type { NetworkName } from '../../schema/network.ts';
import type { SettlingTrouble } from '../rails/settling-standing.ts';

/** Parts that every paid call needs, by the names that `/readyz` uses when they are unavailable. */
export const needs = [
  'database',
  'lease',
  'base',
  'facilitator',
  'log',
  'clock',
  'draining',
  'receipt_subgraph',
] as const;
export type Need = (typeof needs)[number];
/** Parts that only some paid calls need. If one is unavailable, those calls are refused and all others are not. */
const networkLanes = ['solana'] as const;
type NetworkLane = (typeof networkLanes)[number];
/** Remote subgraphs that only some paid calls need. `receipt` is not among them, because most paid calls need it. */
const subgraphLanes = ['book_subgraph', 'session_subgraph', 'board_subgraph'] as const;
/** Parts whose state is known from LISTEN and from the results of payments and calls, without a network request. */
const otherLanes = ['base_settling', 'solana_settling', 'hubs', 'live'] as const;
export const lanes = [...networkLanes, ...subgraphLanes, ...otherLanes] as const;
type Lane = (typeof lanes)[number];

/** What readiness is computed from. Everything is known without a network request, except the state of a facilitator. */
export interface ReadinessParts {
  /** Whether recent commits of calls and heartbeats reached the database. */
  writable(): boolean;
  /** Whether this process holds its lease. Without it, other processes take over its claims. */
  holdsLease(): boolean;
  /** Time since Base was last polled. Null before the first poll. */
  chain_age_ms(): number | null;
  /** Time since the chain of a lane was last polled. Null before the first poll, and 0 if the lane is not used. */
  lane_age_ms(lane: NetworkLane): number | null;
  /** Names of the remote subgraphs that do not answer. */
  subgraphs_away(): readonly string[];
  /** Reason why the last payment on a network was not sent. Null if there is none, or if it would not stop other payments. */
  settling_trouble(network: NetworkName): SettlingTrouble | null;
  /** Whether all hubs for a kind of work have failed recently. */
  hubs_away(): boolean;
  /** Whether this process receives notifications of other processes. */
  listens(): boolean;
  sound(): boolean;
  /** Minimum difference between the clock of this process and the clocks of the database and the chain. */
  clock_off_ms(): number;
  /** Checks whether the facilitator is reachable. Undefined if none settles. */
  readonly facilitator?: (() => Promise<boolean>) | undefined;
}

/** The chain is polled every five seconds. After three missed polls the next paid call would be refused. */
const CHAIN_AGE_MS_MAX = 15_000;
const FACILITATOR_KNOWN_MS = 2_000;

/**
 * Decides whether a load balancer should send paid calls to this process. It uses only what the process already has, because a probe that
 * queries the database would fail when the pool is busy and would remove the process for doing its work.
 */
export class Readiness {
  readonly #parts: ReadinessParts;
  #draining = false;
  #reached: { readonly answer: Promise<boolean>; readonly at_ms: number } | null = null;

  constructor(parts: ReadinessParts) {
    this.#parts = parts;
  }

  /** Makes the process unready, because it is stopping. */
  drain(): void {
    this.#draining = true;
  }

  /** Whether the clock is right enough, because validity windows of payments, sessions and proofs depend on it. */
  get clock_right(): boolean {
    return this.#parts.clock_off_ms() <= limits.clock_off_ms_max;
  }

  /** Parts that are missing for paid calls. Empty if the process is ready. */
  async missingNeeds(): Promise<readonly Need[]> {
    const { writable, holdsLease, chain_age_ms, sound, subgraphs_away } = this.#parts;
    const there: Record<Need, boolean> = {
      database: writable(),
      lease: holdsLease(),
      base: isFresh(chain_age_ms()),
      facilitator: await this.#facilitator(),
      log: sound(),
      clock: this.clock_right,
      draining: !this.#draining,
      receipt_subgraph: !subgraphs_away().includes('receipt'),
    };
    return needs.filter(need => !there[need]);
  }

  /** Parts that are missing but do not make the process unready. */
  missingLanes(): readonly Lane[] {
    const { lane_age_ms, subgraphs_away } = this.#parts;
    const away = subgraphs_away().map(subgraphNeed);
    return [
      ...networkLanes.filter(lane => !isFresh(lane_age_ms(lane))),
      ...subgraphLanes.filter(lane => away.includes(lane)),
      ...this.missingLocalLanes(),
    ];
  }

  /**
   * Missing parts whose state no network request shows. The process stays ready, because only the next payment, call or connection can show
   * that a part is available again.
   */
  missingLocalLanes(): readonly (typeof otherLanes)[number][] {
    const { settling_trouble, hubs_away, listens } = this.#parts;
    return [
      ...(settling_trouble('base') ? ['base_settling' as const] : []),
      ...(settling_trouble('solana') ? ['solana_settling' as const] : []),
      ...(hubs_away() ? ['hubs' as const] : []),
      ...(listens() ? [] : ['live' as const]),
    ];
  }

  /** Whether the facilitator is reachable. Concurrent callers share one query. */
  #facilitator(): Promise<boolean> {
    const { facilitator } = this.#parts;
    if (!facilitator) return Promise.resolve(true);
    const now_ms = performance.now();
    if (this.#reached === null || now_ms - this.#reached.at_ms > FACILITATOR_KNOWN_MS) {
      this.#reached = { answer: facilitator().catch(() => false), at_ms: now_ms };
    }
    return this.#reached.answer;
  }
}

/** Name of a subgraph in `/readyz`, `/health` and metrics. */
export function subgraphNeed(name: string): string {
  return `${name}_subgraph`;
}

function isFresh(age_ms: number | null): boolean {
  return age_ms !== null && age_ms <= CHAIN_AGE_MS_MAX;
}
