import { limits } from '../../schema/limits.ts';
import type { NetworkName } from '../../schema/network.ts';
import type { SettlingTrouble } from '../rails/settling-standing.ts';

/** The parts that a paid call needs, as `/readyz` names them when they are unavailable. */
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
/** Parts that some paid calls need: without one those calls are refused, and all others are not. */
const networkLanes = ['solana'] as const;
type NetworkLane = (typeof networkLanes)[number];
/** The same for remote subgraphs; most paid calls are in `receipt`. */
const subgraphLanes = ['book_subgraph', 'session_subgraph', 'board_subgraph'] as const;
/** Parts known from results of payments and calls and from LISTEN, without a network request. */
const otherLanes = ['base_settling', 'solana_settling', 'hubs', 'live'] as const;
export const lanes = [...networkLanes, ...subgraphLanes, ...otherLanes] as const;
type Lane = (typeof lanes)[number];

/** Everything is known without a request, except for a facilitator. */
export interface ReadinessParts {
  /** Whether recent commits of calls and heartbeats reached the database. */
  writable(): boolean;
  /** Whether this process holds its lease; without it other processes take over its claims. */
  holdsLease(): boolean;
  /** Age of what it knows of the chain; null before the first poll. */
  chain_age_ms(): number | null;
  /** Time since the last look at a lane; null before the first, and 0 if the lane is unused. */
  lane_age_ms(lane: NetworkLane): number | null;
  /** Remote subgraphs that do not answer. */
  subgraphs_away(): readonly string[];
  /** The reason why the last payment on a network was not sent, if it would stop any other one; else null. */
  settling_trouble(network: NetworkName): SettlingTrouble | null;
  /** Whether all hubs for a kind of work have failed recently. */
  hubs_away(): boolean;
  /** Whether this process receives the notifications of the others. */
  listens(): boolean;
  sound(): boolean;
  /** By how much our clock differs from the others', at least. */
  clock_off_ms(): number;
  /** The facilitator, if one settles. */
  readonly facilitator?: (() => Promise<boolean>) | undefined;
}

/** Polled every five seconds: after three missed polls the next paid call would be refused. */
const CHAIN_AGE_MS_MAX = 15_000;
const FACILITATOR_KNOWN_MS = 2_000;

/**
 * Whether a load balancer should send paid calls to this process. It uses only what the process knows, because a
 * probe that queries the database would fail when the pool is busy and take the process out for doing its work.
 */
export class Readiness {
  readonly #parts: ReadinessParts;
  #draining = false;
  #reached: { readonly answer: Promise<boolean>; readonly at_ms: number } | null = null;

  constructor(parts: ReadinessParts) {
    this.#parts = parts;
  }

  /** Marks the process as stopping. */
  drain(): void {
    this.#draining = true;
  }

  /** Validity windows of payments, sessions and proofs depend on the clock. */
  get clock_right(): boolean {
    return this.#parts.clock_off_ms() <= limits.clock_off_ms_max;
  }

  /** What is missing for paid calls; empty if ready. */
  async missingNeeds(): Promise<readonly Need[]> {
    const { writable, holdsLease: leased, chain_age_ms, sound, subgraphs_away } = this.#parts;
    const there: Record<Need, boolean> = {
      database: writable(),
      lease: leased(),
      base: isFresh(chain_age_ms()),
      facilitator: await this.#facilitator(),
      log: sound(),
      clock: this.clock_right,
      draining: !this.#draining,
      receipt_subgraph: !subgraphs_away().includes('receipt'),
    };
    return needs.filter(need => !there[need]);
  }

  /** What is missing and does not make the process unready. */
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
   * Parts that no network request shows. The process stays ready, because only the next payment, call or connection
   * can show that a part is back.
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

  /** Queried once for concurrent callers. */
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

/** The name in `/readyz`, `/health` and metrics. */
export function subgraphNeed(name: string): string {
  return `${name}_subgraph`;
}

function isFresh(age_ms: number | null): boolean {
  return age_ms !== null && age_ms <= CHAIN_AGE_MS_MAX;
}
