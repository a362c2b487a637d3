import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { type CompleteNode, GrowingTree } from '../../../subgraphs/receipt/verify/growing-tree.ts';
import type { LogSource } from './log-source.ts';

const WIDTH = 256;
const TILE_HEIGHT = 8;
const HASH = 32;

/** A leaf of the log that differs from the stored one. */
export interface Difference {
  readonly index: number;
  readonly kept: Buffer;
  readonly found: Buffer;
}

/** Builds the tree of the first `size` stored leaves. */
export async function keptTree(leaves: LeafFile, size: number): Promise<GrowingTree> {
  const tree = new GrowingTree();
  for await (const leaf of leaves.read(0, size)) tree.add(leaf);
  return tree;
}

interface GrownTree {
  readonly tree: GrowingTree;
  /** Root of the tree when it had `mark` leaves; null if it never had that size. */
  readonly root_at_mark: Buffer | null;
  /** Whether the tiles of higher levels contain the hashes that are computed from the leaves. */
  readonly tiles_agree: boolean;
}

/**
 * Grows a tree to `size` leaves. It fetches and stores only the new leaves, and compares each new hash of the higher levels with
 * the log's tiles. @throws LogAway
 */
export async function growTo(
  size: number,
  { from, mark, source, leaves }: { from: GrowingTree; mark: number; source: LogSource; leaves: LeafFile },
): Promise<GrownTree> {
  const tree = from.copy();
  const nodes: CompleteNode[] = [];
  let root_at_mark = tree.size === mark ? tree.root : null;
  for (let index = Math.floor(tree.size / WIDTH); tree.size < size; index++) {
    const known = tree.size - index * WIDTH;
    const tile = await source.tile(0, index, Math.min(WIDTH, size - index * WIDTH));
    await leaves.append(tile.subarray(known * HASH));
    for (let at = known; at * HASH < tile.length; at++) {
      const complete = tree.add(tile.subarray(at * HASH, (at + 1) * HASH));
      nodes.push(...complete.filter(({ height }) => height > 0 && height % TILE_HEIGHT === 0));
      if (tree.size === mark) root_at_mark = tree.root;
    }
  }
  return { tree, root_at_mark, tiles_agree: await tilesAgree(nodes, size, source) };
}

/** Whether each new hash in the log's tiles equals the computed one. */
async function tilesAgree(nodes: readonly CompleteNode[], size: number, source: LogSource): Promise<boolean> {
  const tiles = Map.groupBy(nodes, ({ height, index }) => `${height / TILE_HEIGHT} ${Math.floor(index / WIDTH)}`);
  for (const [address, computed] of tiles) {
    const [level = 0, index = 0] = address.split(' ').map(Number);
    const hashes = Math.floor(size / WIDTH ** level);
    const tile = await source.tile(level, index, Math.min(WIDTH, hashes - index * WIDTH));
    const agrees = computed.every(({ index: place, hash }) => {
      const at = (place - index * WIDTH) * HASH;
      return hash.equals(tile.subarray(at, at + HASH));
    });
    if (!agrees) return false;
  }
  return true;
}

/** Whether the log still shows the leaf that differs. @throws LogAway */
export async function stillDiffers({ index, found }: Difference, size: number, source: LogSource): Promise<boolean> {
  if (index >= size) return false;
  const number = Math.floor(index / WIDTH);
  const tile = await source.tile(0, number, Math.min(WIDTH, size - number * WIDTH));
  const at = (index % WIDTH) * HASH;
  return found.equals(tile.subarray(at, at + HASH));
}

/** Computes the root from all tiles of the log, and finds the first leaf that differs from the stored one. @throws LogAway */
export async function compare(
  size: number,
  { source, leaves }: { readonly source: LogSource; readonly leaves: LeafFile },
): Promise<{ readonly root: Buffer; readonly difference: Difference | null }> {
  const tree = new GrowingTree();
  const kept = leaves.read(0, Math.min(size, leaves.count));
  let difference: Difference | null = null;
  for (let index = 0; tree.size < size; index++) {
    const tile = await source.tile(0, index, Math.min(WIDTH, size - index * WIDTH));
    for (let at = 0; at < tile.length; at += HASH) {
      const found = tile.subarray(at, at + HASH);
      const known: IteratorResult<Buffer> | null = difference === null ? await kept.next() : null;
      if (known && !known.done && !known.value.equals(found))
        difference = { index: tree.size, kept: known.value, found };
      tree.add(found);
    }
  }
  return { root: tree.root, difference };
}

/** Number of leaves that are read at once. */
const LEAVES_MAX = 4_096;

/** The leaf hashes of a log in one file. Only leaves that no cosigned checkpoint covers are ever removed from its end. */
export class LeafFile {
  readonly #file: FileHandle;
  #count: number;

  private constructor(file: FileHandle, count: number) {
    this.#file = file;
    this.#count = count;
  }

  static async open(path: string): Promise<LeafFile> {
    const file = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    const { size } = await file.stat();
    return new LeafFile(file, Math.floor(size / HASH));
  }

  get count(): number {
    return this.#count;
  }

  /** Yields the leaves from `from` up to `to`, excluding `to`. */
  async *read(from: number, to: number): AsyncGenerator<Buffer> {
    for (let at = from; at < to; at += LEAVES_MAX) {
      const piece = Buffer.alloc(Math.min(LEAVES_MAX, to - at) * HASH);
      const { bytesRead } = await this.#file.read(piece, 0, piece.length, at * HASH);
      if (bytesRead !== piece.length) throw new Error(`the leaf hashes end before leaf ${to}`);
      for (let start = 0; start < piece.length; start += HASH) yield piece.subarray(start, start + HASH);
    }
  }

  /** Appends hashes. They are on disk when `sync` has resolved. */
  async append(hashes: Buffer): Promise<void> {
    await this.#file.write(hashes, 0, hashes.length, this.#count * HASH);
    this.#count += hashes.length / HASH;
  }

  sync(): Promise<void> {
    return this.#file.datasync();
  }

  /** Keeps the first `count` leaves and removes the others. */
  async cut(count: number): Promise<void> {
    await this.#file.truncate(count * HASH);
    this.#count = count;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
