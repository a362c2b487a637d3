import { limits } from '../../schema/limits.ts';
import type { NetworkName } from '../../schema/network.ts';
import type { SettlingTrouble } from '../rails/settling-standing.ts';

/** What a paid call needs, as `/readyz` names it where it is away. */
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
/** What some paid calls need: without it those are refused, and all others are not. */
const networkLanes = ['solana'] as const;
type NetworkLane = (typeof networkLanes)[number];
/** The same of subgraphs that are processes of their own; what is sold most is in `receipt`. */
const subgraphLanes = ['book_subgraph', 'session_subgraph', 'board_subgraph'] as const;
/** What is known without a look at a network: from what payments and calls came to, and from what is listened to. */
const otherLanes = ['base_settling', 'solana_settling', 'hubs', 'live'] as const;
export const lanes = [...networkLanes, ...subgraphLanes, ...otherLanes] as const;
type Lane = (typeof lanes)[number];

/** Each is known without asking anybody, but for a facilitator. */
export interface ReadinessParts {
  /** Whether the database takes what is written: commits of calls and heartbeats have gone through of late. */
  writable(): boolean;
  /** Whether this process holds its lease: without it others take over what it claims. */
  leased(): boolean;
  /** How old what it knows of the chain is; null where it has not seen it yet. */
  chain_age_ms(): number | null;
  /** How long ago a lane was seen last: null where it never was, and 0 where nobody uses it. */
  lane_age_ms(lane: NetworkLane): number | null;
  /** Subgraphs elsewhere that do not answer. */
  subgraphs_away(): readonly string[];
  /** Why the last payment on a network was not sent, where no other one would be; null also where none is taken there. */
  settling_trouble(network: NetworkName): SettlingTrouble | null;
  /** Whether no hub has answered of late, of those that a kind of work could go to. */
  hubs_away(): boolean;
  /** Whether this process hears what the others write. */
  hears(): boolean;
  sound(): boolean;
  /** By how much our clock is off the others', at least. */
  clock_off_ms(): number;
  /** Where somebody else settles. */
  readonly facilitator?: (() => Promise<boolean>) | undefined;
}

/** It is polled every five seconds: older than three polls, and the next paid call would be refused. */
const CHAIN_AGE_MS_MAX = 15_000;
const FACILITATOR_KNOWN_MS = 2_000;

/**
 * Whether this process is to be sent paid calls, for whoever spreads them over several. It says so from what is known
 * already: a probe that asked the database would fail when the pool is busy, and take a process out for doing its work.
 */
export class Readiness {
  readonly #parts: ReadinessParts;
  #draining = false;
  #reached: { readonly answer: Promise<boolean>; readonly at_ms: number } | null = null;

  constructor(parts: ReadinessParts) {
    this.#parts = parts;
  }

  /** From now on nothing new is wanted here. */
  drain(): void {
    this.#draining = true;
  }

  /** Windows of payments, sessions and proofs are judged by it. */
  get clock_right(): boolean {
    return this.#parts.clock_off_ms() <= limits.clock_off_ms_max;
  }

  /** Empty while it can take paid calls. */
  async away(): Promise<readonly Need[]> {
    const { writable, leased, chain_age_ms, sound, subgraphs_away } = this.#parts;
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

  /** Without these it is ready all the same. */
  without(): readonly Lane[] {
    const { lane_age_ms, subgraphs_away } = this.#parts;
    const away = subgraphs_away().map(subgraphNeed);
    return [
      ...networkLanes.filter(lane => !isFresh(lane_age_ms(lane))),
      ...subgraphLanes.filter(lane => away.includes(lane)),
      ...this.beside(),
    ];
  }

  /**
   * Of those what no look at a network tells. The process is ready all the same: a payment, a call or another connection would find
   * out that all is well again, and where none came nobody would.
   */
  beside(): readonly (typeof otherLanes)[number][] {
    const { settling_trouble, hubs_away, hears } = this.#parts;
    return [
      ...(settling_trouble('base') ? ['base_settling' as const] : []),
      ...(settling_trouble('solana') ? ['solana_settling' as const] : []),
      ...(hubs_away() ? ['hubs' as const] : []),
      ...(hears() ? [] : ['live' as const]),
    ];
  }

  /** Asked by one of those who want to know, and not by each. */
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

/** As `/readyz`, `/health` and metrics name it. */
export function subgraphNeed(name: string): string {
  return `${name}_subgraph`;
}

function isFresh(age_ms: number | null): boolean {
  return age_ms !== null && age_ms <= CHAIN_AGE_MS_MAX;
}
