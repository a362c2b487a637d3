import type { KeyObject } from 'node:crypto';
import { sha256Hex } from '../../../schema/digest.ts';
import { limits } from '../../../schema/limits.ts';
import type { Clock } from '../../../subgraphs/clock.ts';
import { type ReadCall, readCall, type SubgraphCall } from './call.ts';

/** Why a call is rejected; the caller gets 401 only. */
export type CallRejection =
  | Exclude<ReadCall['kind'], 'read'>
  | 'other_subgraph'
  /** Its time is too far from ours, or before the start of this process, whose earlier calls are not remembered. */
  | 'stale'
  | 'other_body'
  | 'replayed'
  /** Too many calls to remember another one within their lifetime. */
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

/** Admits calls to a remote subgraph: signed by our gateway, recent, for this subgraph, and once. */
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

  /** Checks the header only, so that a rejected body is not read. */
  judge(header: string | undefined): CallVerdict {
    const read = readCall(this.#key, header);
    if (read.kind !== 'read') return { kind: 'turned_away', why: read.kind };
    const { call } = read;
    if (call.subgraph !== this.#subgraph) return { kind: 'turned_away', why: 'other_subgraph' };
    return this.#isOfNow(call) ? { kind: 'signed', call } : { kind: 'turned_away', why: 'stale' };
  }

  /** Checks the body: null if the call is accepted, and from then on never again. */
  take(call: SubgraphCall, body: Uint8Array): CallRejection | null {
    return this.takeHashed(call, sha256Hex(body));
  }

  /** The same for a body that was hashed while it arrived. */
  takeHashed(call: SubgraphCall, body_sha256: string): CallRejection | null {
    if (body_sha256 !== call.body_sha256) return 'other_body';
    // The body may have taken long to arrive.
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
 * Remembers accepted calls for as long as they could be accepted again. They are grouped by the window of their time,
 * and a window is forgotten as a whole, so that the cost does not depend on their number.
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

  /** `full`: it cannot be remembered, so it must not be accepted. Dropping an older one would allow its replay. */
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
