import type { KeyObject } from 'node:crypto';
import { sha256Hex } from '../../../schema/digest.ts';
import { limits } from '../../../schema/limits.ts';
import type { Clock } from '../../../subgraphs/clock.ts';
import { type ReadCall, readCall, type SubgraphCall } from './call.ts';

/** Why a call is rejected. The caller receives status 401 without the reason. */
export type CallRejection =
  | Exclude<ReadCall['kind'], 'read'>
  | 'other_subgraph'
  /** The time of the call is too far from the current time, or before the start of this process, which does not remember earlier calls. */
  | 'stale'
  | 'other_body'
  | 'replayed'
  /** So many calls are remembered that no other can be, within their lifetime. */
  | 'full';

type CallVerdict =
  | { readonly kind: 'signed'; readonly call: SubgraphCall }
  | { readonly kind: 'turned_away'; readonly why: CallRejection };

interface CallGateOptions {
  readonly key: KeyObject;
  readonly subgraph: string;
  readonly clock: Clock;
  readonly calls_max?: number;
}

/**
 * Admits calls to a remote subgraph. A call must be signed by a gateway of this service, recent, and for this subgraph, and is accepted
 * once.
 */
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

  /** Checks the header of a call. The body is checked later, so that the body of a rejected call is not read. */
  judge(header: string | undefined): CallVerdict {
    const read = readCall(this.#key, header);
    if (read.kind !== 'read') return { kind: 'turned_away', why: read.kind };
    const { call } = read;
    if (call.subgraph !== this.#subgraph) return { kind: 'turned_away', why: 'other_subgraph' };
    return this.#isOfNow(call) ? { kind: 'signed', call } : { kind: 'turned_away', why: 'stale' };
  }

  /** Checks the body of a call. Null if the call is accepted, which happens only once. */
  take(call: SubgraphCall, body: Uint8Array): CallRejection | null {
    return this.takeHashed(call, sha256Hex(body));
  }

  /** Does the same as `take` for a body that was hashed while it arrived. */
  takeHashed(call: SubgraphCall, body_sha256: string): CallRejection | null {
    if (body_sha256 !== call.body_sha256) return 'other_body';
    // The time is checked again, because the body may have taken long to arrive.
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
 * Remembers accepted calls for as long as they could be accepted again. Calls are grouped by time into windows, and a window is dropped as
 * a whole, so that the cost does not depend on the number of calls.
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

  /** Remembers a call. `full`: the call cannot be remembered, so it must not be accepted. Dropping an older call would allow its replay. */
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
      // The youngest call of a window may be as young as the end of the window.
      if ((index + 1) * this.#age_ms_max + this.#age_ms_max >= now_ms) continue;
      this.#windows.delete(index);
      this.#count -= window.size;
    }
  }
}
