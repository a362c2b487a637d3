import type { KeyObject } from 'node:crypto';
import { sha256Hex } from '../../../schema/digest.ts';
import { limits } from '../../../schema/limits.ts';
import type { Clock } from '../../../subgraphs/clock.ts';
import { type ReadCall, readCall, type SubgraphCall } from './call.ts';

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

type Judged =
  | { readonly kind: 'signed'; readonly call: SubgraphCall }
  | { readonly kind: 'turned_away'; readonly why: TurnedAway };

interface CallGateOptions {
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

type NonceTaken = 'fresh' | 'seen' | 'full';

/**
 * Which calls have been taken, for as long as any of them would be taken again. Calls are kept by the window that their
 * time lies in, and a window is forgotten as a whole: to look and to forget costs the same at any number.
 */
class NonceWindow {
  readonly #age_ms_max: number;
  readonly #calls_max: number;
  readonly #windows = new Map<number, Set<string>>();
  #count = 0;

  constructor({ age_ms_max, calls_max }: { readonly age_ms_max: number; readonly calls_max: number }) {
    this.#age_ms_max = age_ms_max;
    this.#calls_max = calls_max;
  }

  /** `full`: it is not remembered, and so must not be taken. To forget an older one would let that one in again. */
  take(nonce: string, at_ms: number, now_ms: number): NonceTaken {
    this.#forget(now_ms);
    const index = Math.floor(at_ms / this.#age_ms_max);
    const window = this.#windows.get(index) ?? new Set();
    if (window.has(nonce)) return 'seen';
    if (this.#count >= this.#calls_max) return 'full';
    this.#windows.set(index, window.add(nonce));
    this.#count += 1;
    return 'fresh';
  }

  #forget(now_ms: number): void {
    for (const [index, window] of this.#windows) {
      // The youngest call of a window is as young as its end.
      if ((index + 1) * this.#age_ms_max + this.#age_ms_max >= now_ms) continue;
      this.#windows.delete(index);
      this.#count -= window.size;
    }
  }
}
