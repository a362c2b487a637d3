import { limits } from '../../schema/limits.ts';

/** What a paid call needs, as `/readyz` names it where it is away. */
export const needs = ['database', 'lease', 'base', 'facilitator', 'log', 'clock', 'draining'] as const;
export type Need = (typeof needs)[number];
/** What some paid calls need: without it those are refused, and all others are not. */
export const lanes = ['solana'] as const;
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
  lane_age_ms(lane: Lane): number | null;
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

  /** Empty while it can take paid calls. */
  async away(): Promise<readonly Need[]> {
    const { writable, leased, chain_age_ms, sound, clock_off_ms } = this.#parts;
    const there: Record<Need, boolean> = {
      database: writable(),
      lease: leased(),
      base: isFresh(chain_age_ms()),
      facilitator: await this.#facilitator(),
      log: sound(),
      // Windows of payments, sessions and proofs are judged by it.
      clock: clock_off_ms() <= limits.clock_off_ms_max,
      draining: !this.#draining,
    };
    return needs.filter(need => !there[need]);
  }

  /** Without these it is ready all the same. */
  without(): readonly Lane[] {
    return lanes.filter(lane => !isFresh(this.#parts.lane_age_ms(lane)));
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

function isFresh(age_ms: number | null): boolean {
  return age_ms !== null && age_ms <= CHAIN_AGE_MS_MAX;
}
