import { join } from 'node:path';
import { type Clock, iso } from '../../../subgraphs/clock.ts';
import {
  type CheckpointHead,
  type OpenedCheckpoint,
  openCheckpoint,
} from '../../../subgraphs/receipt/verify/open-checkpoint.ts';
import type { VerifierKey } from '../../../subgraphs/receipt/verify/verifier-key.ts';
import type { Difference } from './catch-up.ts';
import { type CosignedHead, CosignedHeads, type Reach } from './cosigned-heads.ts';
import { keepEvidence } from './evidence.ts';
import type { WitnessKey } from './key.ts';

/** A checkpoint that the log has signed. */
export type SignedCheckpoint = Extract<OpenedCheckpoint, { kind: 'signed' }>;

/** Signs for one log what others have proven, and keeps what it has signed. */
export class Cosigner {
  readonly origin: string;
  readonly #keys: readonly VerifierKey[];
  readonly #key: WitnessKey;
  readonly #heads: CosignedHeads;
  readonly #state: string;
  readonly #clock: Clock;

  constructor(
    log: { readonly origin: string; readonly keys: readonly VerifierKey[] },
    { key, state, clock, reach }: { key: WitnessKey; state: string; clock: Clock; reach: Reach },
  ) {
    this.origin = log.origin;
    this.#keys = log.keys;
    this.#key = key;
    this.#heads = new CosignedHeads(join(state, 'checkpoints'), key.verifier, reach);
    this.#state = state;
    this.#clock = clock;
  }

  /** By the keys that are trusted for this log. */
  open(note: string): OpenedCheckpoint {
    return openCheckpoint(note, this.#keys);
  }

  newest(): Promise<CosignedHead | null> {
    return this.#heads.newest();
  }

  /**
   * The cosignature of a checkpoint that was proven to extend `from`, once it is kept; null where something else was cosigned
   * meanwhile. Of the log's signatures only those are kept that were verified.
   */
  async cosign(from: CosignedHead | null, { text, signatures }: SignedCheckpoint): Promise<string | null> {
    const cosignature = this.#key.cosign(text);
    const note = `${text}\n${signatures.map(({ line }) => line).join('')}${cosignature}`;
    return (await this.#heads.keep(from, note)) ? cosignature : null;
  }

  /** Keeps a checkpoint that contradicts what was cosigned beside that; the path of the file, or null. */
  keepFork(
    cosigned: CosignedHead,
    found: string,
    head: CheckpointHead,
    difference: Difference | null,
  ): Promise<string | null> {
    const name = `${cosigned.size}-${short(cosigned)}-${head.size}-${short(head)}`;
    const fork = { origin: this.origin, cosigned: cosigned.note, found, difference, at: iso(this.#clock.now_ms()) };
    return keepEvidence(join(this.#state, 'evidence'), name, fork);
  }
}

const short = ({ root }: CheckpointHead) => root.subarray(0, 4).toString('hex');
