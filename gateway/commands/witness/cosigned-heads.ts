import { randomUUID } from 'node:crypto';
import { link, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolderOf, writeDurably } from '../../../subgraphs/durable-file.ts';
import { type CheckpointHead, openCheckpoint } from '../../../subgraphs/receipt/verify/open-checkpoint.ts';
import type { VerifierKey } from '../../../subgraphs/receipt/verify/verifier-key.ts';
import { OperatorFault } from '../../config/fault.ts';

/** A head that this witness has vouched for. */
export interface CosignedHead extends CheckpointHead {
  /** The how manieth it is. */
  readonly sequence: number;
  /** The checkpoint with the log's verified signatures and the witness's own. */
  readonly note: string;
}

/** Points at which a test may end the process. */
export type WitnessStep = 'leaves_kept' | 'head_written' | 'head_kept';
export type Reach = (step: WitnessStep) => Promise<void>;

/** Beside the newest, for whoever looks into the folder. */
const KEPT = 8;

/**
 * The heads that were cosigned, each a file whose number is one above that of the head it was proven to extend. A number is given
 * once, by `link`, which no second process can do again: so of two that were proven by the same head one is cosigned, and
 * what was checked and what is kept are one step, also for processes that share the folder by mistake.
 */
export class CosignedHeads {
  readonly #folder: string;
  readonly #witness: VerifierKey;
  readonly #reach: Reach;

  constructor(folder: string, witness: VerifierKey, reach: Reach) {
    this.#folder = folder;
    this.#witness = witness;
    this.#reach = reach;
  }

  /** Null before the first. @throws OperatorFault where it cannot be read: that is no reason to begin anew */
  async newest(): Promise<CosignedHead | null> {
    const sequence = (await this.#sequences()).at(-1);
    if (sequence === undefined) return null;
    const note = await readFile(this.#path(sequence), 'utf8');
    const opened = openCheckpoint(note, [this.#witness]);
    if (opened.kind !== 'signed')
      throw new OperatorFault(`${this.#path(sequence)} is not as this witness has cosigned it: nothing is signed`);
    return { ...opened.head, sequence, note };
  }

  /** Resolves once it is on disk: only then may its cosignature leave. False where `from` is not the newest any more. */
  async keep(from: CosignedHead | null, note: string): Promise<boolean> {
    const sequence = (from?.sequence ?? 0) + 1;
    const path = this.#path(sequence);
    const aside = join(this.#folder, `${randomUUID()}.tmp`);
    try {
      await writeDurably(aside, note);
      await this.#reach('head_written');
      await link(aside, path);
    } catch (fault) {
      if ((fault as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw fault;
    } finally {
      await rm(aside, { force: true });
    }
    await syncFolderOf(path);
    const sequences = await this.#sequences();
    // Whoever stood still for long may have taken a number that was given and forgotten.
    if (sequences.at(-1) !== sequence) return false;
    await this.#reach('head_kept');
    for (const old of sequences.filter(it => it <= sequence - KEPT)) await rm(this.#path(old), { force: true });
    return true;
  }

  async #sequences(): Promise<number[]> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const names = (await readdir(this.#folder)).filter(name => /^\d{12}$/.test(name));
    return names.map(Number).sort((one, other) => one - other);
  }

  #path(sequence: number): string {
    return join(this.#folder, String(sequence).padStart(12, '0'));
  }
}
