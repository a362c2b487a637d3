import type { KeyObject } from 'node:crypto';
import { sha256Hex } from '../../../schema/digest.ts';
import { limits } from '../../../schema/limits.ts';
import type { Clock } from '../../../subgraphs/clock.ts';
import { type ReadCall, readCall, type SubgraphCall } from './call.ts';
import { NonceWindow } from './nonce-window.ts';

/** Why a call is not taken; whoever made it hears nothing but 401. */
export type TurnedAway =
  | Exclude<ReadCall['kind'], 'read'>
  | 'other_subgraph'
  /** Its time is too far from ours, or lies before this process began: what was taken then is not remembered. */
  | 'stale'
  | 'other_body'
  | 'replayed'
  /** Too many calls within their age to remember one more. */
  | 'full';

export type Judged =
  | { readonly kind: 'signed'; readonly call: SubgraphCall }
  | { readonly kind: 'turned_away'; readonly why: TurnedAway };

export interface CallGateOptions {
  readonly key: KeyObject;
  readonly subgraph: string;
  readonly clock: Clock;
  readonly calls_max?: number;
}

/** The one way into a subgraph that is served alone: a call of our own gateway's, of now, for this subgraph, once. */
export class CallGate {
  readonly #key: KeyObject;
  readonly #subgraph: string;
  readonly #clock: Clock;
  readonly #since_ms: number;
  readonly #nonces: NonceWindow;

  constructor({ key, subgraph, clock, calls_max = limits.subgraph_calls_remembered_max }: CallGateOptions) {
    this.#key = key;
    this.#subgraph = subgraph;
    this.#clock = clock;
    this.#since_ms = clock.now_ms();
    this.#nonces = new NonceWindow({ age_ms_max: AGE_MS_MAX, calls_max });
  }

  /** By the header alone: whoever is turned away here is not read on. */
  judge(header: string | undefined): Judged {
    const read = readCall(this.#key, header);
    if (read.kind !== 'read') return { kind: 'turned_away', why: read.kind };
    const { call } = read;
    if (call.subgraph !== this.#subgraph) return { kind: 'turned_away', why: 'other_subgraph' };
    return this.#isOfNow(call) ? { kind: 'signed', call } : { kind: 'turned_away', why: 'stale' };
  }

  /** With the body in hand: null where the call is taken, and from then on never again. */
  take(call: SubgraphCall, body: Uint8Array): TurnedAway | null {
    return this.takeHashed(call, sha256Hex(body));
  }

  /** The same where the body was hashed as it came. */
  takeHashed(call: SubgraphCall, body_sha256: string): TurnedAway | null {
    if (body_sha256 !== call.body_sha256) return 'other_body';
    // The body may have been long in coming.
    if (!this.#isOfNow(call)) return 'stale';
    const taken = this.#nonces.take(call.nonce, call.at_ms, this.#clock.now_ms());
    if (taken === 'fresh') return null;
    return taken === 'seen' ? 'replayed' : 'full';
  }

  #isOfNow({ at_ms }: SubgraphCall): boolean {
    return at_ms >= this.#since_ms && Math.abs(this.#clock.now_ms() - at_ms) <= AGE_MS_MAX;
  }
}

const AGE_MS_MAX = limits.subgraph_call_age_seconds_max * 1_000;
