import { GrowingTree } from '../../../subgraphs/receipt/verify/growing-tree.ts';
import { EMPTY_ROOT } from '../../../subgraphs/receipt/verify/merkle-proof.ts';
import type { CheckpointHead } from '../../../subgraphs/receipt/verify/open-checkpoint.ts';
import { compare, type Difference, growTo, keptTree, type LeafFile, stillDiffers } from './catch-up.ts';
import type { CosignedHead, StepHook } from './cosigned-heads.ts';
import type { Cosigner, SignedCheckpoint } from './cosigner.ts';
import { LogAway, type LogSource } from './log-source.ts';

/** Result of one check of the log. */
export type LogCheck =
  | { readonly kind: 'cosigned'; readonly size: number }
  /** `behind`: the log shows a smaller tree that is a prefix of the cosigned one, as a cache may do. */
  | { readonly kind: 'unchanged' | 'behind'; readonly size: number }
  | { readonly kind: 'away' | 'refused' | 'forked'; readonly sentence: string };

interface LogFollowerParts {
  readonly cosigner: Cosigner;
  readonly source: LogSource;
  readonly leaves: LeafFile;
  readonly reach: StepHook;
}

/** Maximum number of checks in a row. A check is repeated if a submission was cosigned meanwhile. */
const TRIES = 4;

/** Follows a log by its checkpoint and tiles, and cosigns each checkpoint that it has proven to extend the last cosigned one. */
export class LogFollower {
  readonly #parts: LogFollowerParts;
  /** Tree of the stored leaves; null until they are read. */
  #tree: GrowingTree | null = null;
  /** The fork that was found. It is not computed again while the log still shows it; null if none was found. */
  #forked: { readonly root: Buffer; readonly difference: Difference | null; readonly sentence: string } | null = null;

  constructor(parts: LogFollowerParts) {
    this.#parts = parts;
  }

  /** Checks the log once. It must not run twice at the same time. */
  async look(): Promise<LogCheck> {
    try {
      for (let tried = 0; tried < TRIES; tried++) {
        const looked = await this.#once();
        if (looked !== 'moved') return looked;
      }
      return { kind: 'away', sentence: 'submissions are cosigned faster than the log can be read' };
    } catch (fault) {
      if (fault instanceof LogAway) return { kind: 'away', sentence: fault.message };
      throw fault;
    }
  }

  async #once(): Promise<LogCheck | 'moved'> {
    const { cosigner, source } = this.#parts;
    const note = await source.checkpoint();
    const opened = cosigner.open(note);
    if (opened.kind !== 'signed') return { kind: 'refused', sentence: unbelieved[opened.kind] };
    if (opened.head.origin !== cosigner.origin)
      return {
        kind: 'refused',
        sentence: `the checkpoint belongs to the log ${opened.head.origin}, not to ${cosigner.origin}`,
      };
    const newest = await cosigner.newest();
    return opened.head.size < (newest?.size ?? 0)
      ? this.#smaller(note, opened.head, newest)
      : this.#grown(note, opened, newest);
  }

  async #smaller(note: string, head: CheckpointHead, newest: CosignedHead | null): Promise<LogCheck> {
    const { leaves } = this.#parts;
    const behind = { kind: 'behind', size: head.size } as const;
    const tree = await this.#keptUpTo(newest);
    // A cosigned checkpoint that was submitted with a proof came without leaves, so no stored leaf contradicts the shown one.
    if (head.size > tree.size) return behind;
    const root = (await keptTree(leaves, head.size)).root;
    return root.equals(head.root) ? behind : this.#contradicted(note, head, newest);
  }

  async #grown(note: string, opened: SignedCheckpoint, newest: CosignedHead | null): Promise<LogCheck | 'moved'> {
    const { cosigner, leaves, reach, source } = this.#parts;
    const { head } = opened;
    const mark = newest?.size ?? 0;
    const from = await this.#keptUpTo(newest);
    const { tree, root_at_mark, tiles_agree } = await growTo(head.size, { from, mark, source, leaves }).catch(
      async fault => {
        await leaves.cut(from.size);
        throw fault;
      },
    );
    const extends_it = root_at_mark?.equals(newest?.root ?? EMPTY_ROOT) ?? false;
    if (!tree.root.equals(head.root) || !extends_it) {
      await leaves.cut(from.size);
      return this.#contradicted(note, head, newest);
    }
    if (!tiles_agree) {
      await leaves.cut(from.size);
      return {
        kind: 'refused',
        sentence: 'a tile of a higher level does not contain the hashes that follow from the leaves',
      };
    }
    await leaves.sync();
    await reach('leaves_kept');
    if (newest && head.size === mark) {
      this.#tree = tree;
      return { kind: 'unchanged', size: mark };
    }
    if ((await cosigner.cosign(newest, opened)) === null) {
      await leaves.cut(from.size);
      return 'moved';
    }
    this.#tree = tree;
    return { kind: 'cosigned', size: head.size };
  }

  /**
   * Removes leaves that no cosigned checkpoint covers. If the others do not lead to its root, removes them all, and they are
   * fetched again.
   */
  async #keptUpTo(newest: CosignedHead | null): Promise<GrowingTree> {
    if (this.#tree) return this.#tree;
    const { leaves } = this.#parts;
    const size = newest?.size ?? 0;
    const tree = await keptTree(leaves, Math.min(leaves.count, size));
    // A file with fewer leaves cannot be compared with the cosigned root.
    const damaged = newest !== null && !(tree.size === size && tree.root.equals(newest.root));
    await leaves.cut(damaged ? 0 : tree.size);
    this.#tree = damaged ? new GrowingTree() : tree;
    return this.#tree;
  }

  /**
   * Handles a checkpoint that does not match: either the log has signed one that does not extend the cosigned one, or its tiles do
   * not match its checkpoint.
   */
  async #contradicted(note: string, head: CheckpointHead, newest: CosignedHead | null): Promise<LogCheck> {
    const { cosigner, source } = this.#parts;
    const { root: known, difference: shown, sentence: before } = this.#forked ?? {};
    if (before !== undefined && (known?.equals(head.root) || (shown && (await stillDiffers(shown, head.size, source)))))
      return { kind: 'forked', sentence: before };
    const { root, difference } = await compare(head.size, this.#parts);
    if (!root.equals(head.root) || newest === null)
      return {
        kind: 'refused',
        sentence: `the tiles do not match the root of the checkpoint of ${head.size} leaves`,
      };
    const kept = await cosigner.keepFork(newest, note, head, difference);
    const sentence = `${cosigner.origin} has forked: it signed a tree of ${head.size} leaves that contradicts the cosigned tree of ${newest.size} leaves; ${differing(difference)}${kept ? `; both checkpoints are in ${kept}` : ''}`;
    this.#forked = { root: head.root, difference, sentence };
    return { kind: 'forked', sentence };
  }
}

const unbelieved = {
  malformed: 'the log does not show a valid checkpoint',
  unsigned: 'no trusted key has signed the checkpoint; if the log has a new key, give it with --key',
  forged: 'a signature of the checkpoint names a trusted key and is not valid under it',
} as const;

function differing(difference: Difference | null): string {
  if (difference === null)
    return 'the first leaf that differs is unknown, because the cosigned tree was submitted with a proof and without leaves';
  const { index, kept, found } = difference;
  return `the first leaf that differs is ${index}: it was ${kept.toString('hex')} and is now ${found.toString('hex')}`;
}
