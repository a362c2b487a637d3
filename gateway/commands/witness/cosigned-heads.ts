import { randomUUID } from 'node:crypto';
import { link, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolderOf, writeDurably } from '../../../subgraphs/durable-file.ts';
import { type CheckpointHead, openCheckpoint } from '../../../subgraphs/receipt/verify/open-checkpoint.ts';
import type { VerifierKey } from '../../../subgraphs/receipt/verify/verifier-key.ts';
import { OperatorFault } from '../../config/fault.ts';

/** A checkpoint that this witness has cosigned. */
export interface CosignedHead extends CheckpointHead {
  /** Number of the checkpoint, from 1. */
  readonly sequence: number;
  /** The checkpoint with the log's verified signatures and the witness's cosignature. */
  readonly note: string;
}

/** Points at which a test may end the process. */
export type WitnessStep = 'leaves_kept' | 'head_written' | 'head_kept';
export type StepHook = (step: WitnessStep) => Promise<void>;

/** Number of files that are kept, the newest ones. */
const KEPT = 8;

/**
 * Stores each cosigned checkpoint in a file whose name is its number. The number is one above that of the checkpoint that it was
 * proven to extend. `link` creates a name only once, so of two checkpoints that were proven to extend the same one only one is
 * cosigned. Check and storing are therefore one step, even for processes that share the folder by mistake.
 */
export class CosignedHeads {
  readonly #folder: string;
  readonly #witness: VerifierKey;
  readonly #reach: StepHook;

  constructor(folder: string, witness: VerifierKey, reach: StepHook) {
    this.#folder = folder;
    this.#witness = witness;
    this.#reach = reach;
  }

  /**
   * The newest cosigned checkpoint; null before the first. @throws OperatorFault if it cannot be read, because the witness must not
   * begin again
   */
  async newest(): Promise<CosignedHead | null> {
    const sequence = (await this.#sequences()).at(-1);
    if (sequence === undefined) return null;
    const note = await readFile(this.#path(sequence), 'utf8');
    const opened = openCheckpoint(note, [this.#witness]);
    if (opened.kind !== 'signed')
      throw new OperatorFault(
        `${this.#path(sequence)} does not have this witness's cosignature. Restore the --state folder. Nothing was signed.`,
      );
    return { ...opened.head, sequence, note };
  }

  /**
   * Stores a note. Resolves when it is on disk; the cosignature may be sent only then. False if `from` is no longer the newest.
   */
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
    // A process that paused for a long time may have used a number whose file was deleted meanwhile.
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
