import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync } from 'node:fs';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { withFileLock } from './file-lock.ts';
import { LOG_ID, type SignedTreeHead, treeHeadHash } from './head.ts';

/** The last signed head, kept outside the database: what a restored older dump cannot take back. */
export interface SavedHead {
  /**
   * Resolves when a head at least as large is on disk. Heads that arrive while one is written are coalesced
   * to the largest; a smaller one never replaces a larger one, whichever process wrote it.
   */
  save(head: SignedTreeHead): Promise<void>;
  /** Null where none was ever saved. @throws where the file cannot be read: that is no reason to start afresh. */
  read(): Promise<SignedTreeHead | null>;
  /** Goes on from another head, smaller or none: only after a break was declared. */
  restart(head: SignedTreeHead | null): Promise<void>;
}

/** One write and all who wait for it. */
interface Round {
  head: SignedTreeHead;
  readonly done: PromiseWithResolvers<void>;
}

export function savedHead(path: string): SavedHead {
  let next: Round | null = null;
  let writing = false;

  async function drain(): Promise<void> {
    writing = true;
    for (let round = next; round !== null; round = next) {
      next = null;
      const { head, done } = round;
      await keep(path, head).then(done.resolve, done.reject);
    }
    writing = false;
  }

  return {
    read: async () => readHead(path),
    async restart(head) {
      await withFileLock(`${path}.lock`, () => rmSync(path, { force: true }));
      if (head !== null) await keep(path, head);
    },
    save(head) {
      if (next === null) next = { head, done: Promise.withResolvers() };
      else if (head.tree_size > next.head.tree_size) next.head = head;
      const { done } = next;
      if (!writing) void drain();
      return done.promise;
    },
  };
}

const hash = z.string().regex(/^[0-9a-f]{64}$/);
/** A head that was damaged where it lies does not hash to its own hash. */
const Saved = z
  .object({
    log_id: z.literal(LOG_ID),
    tree_size: z.int().min(0),
    root_hash: hash,
    tree_head_hash: hash,
    kid: z.string(),
    jws: z.string(),
    at: z.string(),
  })
  .refine(head => treeHeadHash(head) === head.tree_head_hash, 'tree_head_hash is not the hash of this head');

/** The file is there and holds no head. */
export class UnreadableHead extends Error {
  override name = 'UnreadableHead';

  constructor(path: string, cause: unknown) {
    super(`the saved log head ${path} cannot be read`, { cause });
  }
}

function readHead(path: string): SignedTreeHead | null {
  try {
    return Saved.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new UnreadableHead(path, fault);
  }
}

/** Write aside, fsync, rename, fsync the folder: after a power cut either the old head or the new one stands there. */
async function keep(path: string, head: SignedTreeHead): Promise<void> {
  // Processes in containers of their own share the folder, and often their number.
  const aside = `${path}.${randomUUID()}.tmp`;
  const replaced = await openIfThere(path);
  try {
    await writeDurably(aside, `${JSON.stringify(head, null, 2)}\n`);
    while (!(await withFileLock(`${path}.lock`, held => place(path, aside, head, held))));
  } catch (fault) {
    await rm(aside, { force: true });
    throw fault;
  } finally {
    await replaced?.close();
  }
  // Also where another process has put a larger one there: it may not have come this far.
  const folder = await open(dirname(path), 'r');
  await folder.sync().finally(() => folder.close());
}

/**
 * Held open while it is replaced: the disk is given back its blocks when it is closed, off this thread. The rename alone
 * takes 15 µs, and with that 1.5 ms in which nothing else is done here.
 */
async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r');
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw fault;
  }
}

/** False where the lock was lost meanwhile: a larger one may stand there now. */
function place(path: string, aside: string, head: SignedTreeHead, held: () => boolean): boolean {
  const saved = readHead(path);
  if (saved !== null && saved.tree_size >= head.tree_size) rmSync(aside);
  else if (held()) renameSync(aside, path);
  else return false;
  return true;
}

async function writeDurably(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const file = await open(path, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}
