import { type Checkpoint, openCheckpoint, parentOf } from './note.ts';

/** Requests a path. Returns the body, or null if there is none. */
type Ask = (path: string) => Promise<Buffer | null>;

const WIDTH = 256;
const HASH = 32;

/** The path of a tile, such as `x001/x234/067` (tlog-tiles). */
export function tilePathOf(index: number): string {
  const digits = String(index).padStart(Math.ceil(String(index).length / 3) * 3, '0');
  const groups = digits.match(/\d{3}/g) ?? [];
  return groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join('/');
}

/** All tiles of a tree of `size` leaves: full ones, and at most one partial tile at the end of each level. */
export function tilesOf(size: number): { readonly level: number; readonly path: string; readonly width: number }[] {
  const tiles = [];
  for (let level = 0, hashes = size; hashes > 0; level++, hashes = Math.floor(hashes / WIDTH)) {
    for (let index = 0; index < Math.floor(hashes / WIDTH); index++)
      tiles.push({ level, path: tilePathOf(index), width: WIDTH });
    const rest = hashes % WIDTH;
    if (rest > 0) tiles.push({ level, path: `${tilePathOf(Math.floor(hashes / WIDTH))}.p/${rest}`, width: rest });
  }
  return tiles;
}

/**
 * Follows a log by its checkpoints and tiles only (https://c2sp.org/tlog-tiles). It accepts only hashes that it can compute from the
 * leaves.
 */
export class LogFollower {
  readonly #ask: Ask;
  readonly #key: string;
  /** Leaf hashes of the newest tree that was accepted. */
  leaves: Buffer[] = [];

  /** @param ask requests a path below the log's prefix */
  constructor(ask: Ask, verifier_key: string) {
    this.#ask = ask;
    this.#key = verifier_key;
  }

  /**
   * Returns the newest checkpoint. @throws if its tree does not extend the previous one, or its tiles do not agree with each other or with
   * its root
   */
  async follow(): Promise<Checkpoint> {
    const note = await this.#ask('checkpoint');
    const checkpoint = openCheckpoint(String(note), this.#key);
    const tiles = new Map<string, Buffer[]>();
    for (const { level, path, width } of tilesOf(checkpoint.size)) {
      const bytes = await this.#ask(`tile/${level}/${path}`);
      if (bytes?.length !== width * HASH) throw new Error(`tile ${level}/${path} has ${bytes?.length} bytes`);
      const hashes = Array.from({ length: width }, (_, at) => bytes.subarray(at * HASH, (at + 1) * HASH));
      tiles.set(String(level), [...(tiles.get(String(level)) ?? []), ...hashes]);
    }
    this.#requireSound(checkpoint, [...tiles.values()]);
    return checkpoint;
  }

  #requireSound({ size, root }: Checkpoint, levels: readonly Buffer[][]): void {
    const leaves = levels[0] ?? [];
    if (leaves.length !== size) throw new Error('the tiles do not hold all leaves');
    if (this.leaves.some((leaf, at) => !leaves[at]?.equals(leaf)))
      throw new Error('the log does not extend what was seen');
    for (const [level, hashes] of levels.entries()) {
      if (level === 0) continue;
      const below = levels[level - 1] ?? [];
      for (const [at, hash] of hashes.entries())
        if (!hash.equals(rootOf(below.slice(at * WIDTH, (at + 1) * WIDTH))))
          throw new Error(`tile hash ${level}/${at} is wrong`);
    }
    if (size > 0 && !rootOf(leaves).equals(root)) throw new Error('the tiles do not lead to the root');
    this.leaves = leaves;
  }
}

/** Merkle tree hash of these leaf hashes (RFC 6962 section 2.1). */
export function rootOf(leaves: readonly Buffer[]): Buffer {
  const [first] = leaves;
  if (first === undefined) throw new Error('no leaves');
  if (leaves.length === 1) return first;
  const split = 2 ** Math.ceil(Math.log2(leaves.length) - 1);
  return Buffer.from(parentOf(rootOf(leaves.slice(0, split)), rootOf(leaves.slice(split))));
}
