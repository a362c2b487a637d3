import { GrowingTree } from '../../../subgraphs/receipt/verify/growing-tree.ts';
import { EMPTY_ROOT } from '../../../subgraphs/receipt/verify/merkle-proof.ts';
import type { CheckpointHead } from '../../../subgraphs/receipt/verify/open-checkpoint.ts';
import { compare, type Difference, growTo, keptTree, type LeafFile, stillDiffers } from './catch-up.ts';
import type { CosignedHead, Reach } from './cosigned-heads.ts';
import type { Cosigner, SignedCheckpoint } from './cosigner.ts';
import { LogAway, type LogSource } from './log-source.ts';

/** What a look at the log came to. */
export type Look =
  | { readonly kind: 'cosigned'; readonly size: number }
  /** `behind`: less than was cosigned, and the beginning of it, as a cache may show. */
  | { readonly kind: 'unchanged' | 'behind'; readonly size: number }
  | { readonly kind: 'away' | 'refused' | 'forked'; readonly sentence: string };

interface LogFollowerParts {
  readonly cosigner: Cosigner;
  readonly source: LogSource;
  readonly leaves: LeafFile;
  readonly reach: Reach;
}

/** Others may cosign beside it, by submissions: then it looks again. */
const TRIES = 4;

/** Follows a log by its checkpoint and tiles, and has cosigned what it has proven to extend what was cosigned before. */
export class LogFollower {
  readonly #parts: LogFollowerParts;
  /** Of the leaves that are kept and belong to the log; null until they were read. */
  #tree: GrowingTree | null = null;
  /** What a fork was told by: while it shows that, it is not computed again at each look. */
  #forked: { readonly root: Buffer; readonly difference: Difference | null; readonly sentence: string } | null = null;

  constructor(parts: LogFollowerParts) {
    this.#parts = parts;
  }

  /** Never two at once. */
  async look(): Promise<Look> {
    try {
      for (let tried = 0; tried < TRIES; tried++) {
        const looked = await this.#once();
        if (looked !== 'moved') return looked;
      }
      return { kind: 'away', sentence: 'others cosign faster than this log can be looked at' };
    } catch (fault) {
      if (fault instanceof LogAway) return { kind: 'away', sentence: fault.message };
      throw fault;
    }
  }

  async #once(): Promise<Look | 'moved'> {
    const { cosigner, source } = this.#parts;
    const note = await source.checkpoint();
    const opened = cosigner.open(note);
    if (opened.kind !== 'signed') return { kind: 'refused', sentence: unbelieved[opened.kind] };
    if (opened.head.origin !== cosigner.origin)
      return { kind: 'refused', sentence: `the checkpoint is of ${opened.head.origin}, not of ${cosigner.origin}` };
    const newest = await cosigner.newest();
    return opened.head.size < (newest?.size ?? 0)
      ? this.#smaller(note, opened.head, newest)
      : this.#grown(note, opened, newest);
  }

  async #smaller(note: string, head: CheckpointHead, newest: CosignedHead | null): Promise<Look> {
    const { leaves } = this.#parts;
    const behind = { kind: 'behind', size: head.size } as const;
    const tree = await this.#keptUpTo(newest);
    // What was submitted with a proof alone has no leaves here yet: nothing is said against it.
    if (head.size > tree.size) return behind;
    const root = (await keptTree(leaves, head.size)).root;
    return root.equals(head.root) ? behind : this.#contradicted(note, head, newest);
  }

  async #grown(note: string, opened: SignedCheckpoint, newest: CosignedHead | null): Promise<Look | 'moved'> {
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
      return { kind: 'refused', sentence: 'a tile above the leaves does not hold the hashes that follow from them' };
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

  /** Cuts off what no cosigned head covers, and lets go of what does not lead to it: it is fetched anew. */
  async #keptUpTo(newest: CosignedHead | null): Promise<GrowingTree> {
    if (this.#tree) return this.#tree;
    const { leaves } = this.#parts;
    const size = newest?.size ?? 0;
    const tree = await keptTree(leaves, Math.min(leaves.count, size));
    // Of fewer leaves nothing says that they are as they were kept.
    const damaged = newest !== null && !(tree.size === size && tree.root.equals(newest.root));
    await leaves.cut(damaged ? 0 : tree.size);
    this.#tree = damaged ? new GrowingTree() : tree;
    return this.#tree;
  }

  /** The log has signed what does not extend what was cosigned; or its tiles are not those of its checkpoint. */
  async #contradicted(note: string, head: CheckpointHead, newest: CosignedHead | null): Promise<Look> {
    const { cosigner, source } = this.#parts;
    const { root: known, difference: told, sentence: before } = this.#forked ?? {};
    if (before !== undefined && (known?.equals(head.root) || (told && (await stillDiffers(told, head.size, source)))))
      return { kind: 'forked', sentence: before };
    const { root, difference } = await compare(head.size, this.#parts);
    if (!root.equals(head.root) || newest === null)
      return {
        kind: 'refused',
        sentence: `the tiles do not lead to the root of the checkpoint of ${head.size} leaves`,
      };
    const kept = await cosigner.keepFork(newest, note, head, difference);
    const sentence = `${cosigner.origin} has forked: it signed ${head.size} leaves that contradict the ${newest.size} that were cosigned; ${differing(difference)}${kept ? `; both checkpoints are kept in ${kept}` : ''}`;
    this.#forked = { root: head.root, difference, sentence };
    return { kind: 'forked', sentence };
  }
}

const unbelieved = {
  malformed: 'what the log shows is no checkpoint',
  unsigned: 'no trusted key has signed the checkpoint; if the log has a new key, give it with --key',
  forged: 'a signature of the checkpoint names a trusted key, which did not make it',
} as const;

function differing(difference: Difference | null): string {
  if (difference === null) return 'which leaf differs first is not known here: it was cosigned by a proof alone';
  const { index, kept, found } = difference;
  return `the first leaf that differs is ${index}: ${kept.toString('hex')} was kept, ${found.toString('hex')} is shown`;
}
