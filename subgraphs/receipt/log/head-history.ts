import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolderOf } from '../../durable-file.ts';
import type { SignedTreeHead } from './tree-head.ts';

/** `2026-01-02T03:04` of an ISO 8601 time. */
const MINUTE_CHARS = 16;

export const minuteOf = ({ at }: SignedTreeHead): string => at.slice(0, MINUTE_CHARS);

/**
 * Signed heads as JSON lines, one a minute while the log grows, never taken back: evidence of what was signed, whatever happened to the
 * database, to the newest head, or to the log since. Each process that shares the folder may add its own, so that a minute may have
 * several.
 */
export class HeadHistory {
  readonly #path: string;
  #minute: string | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /** Resolves when a head of its minute is on disk. */
  async keep(head: SignedTreeHead): Promise<void> {
    const minute = minuteOf(head);
    if (minute === this.#minute) return;
    await mkdir(dirname(this.#path), { recursive: true });
    const file = await open(this.#path, 'a+', 0o600);
    try {
      // In one write, so that the lines of several processes do not mix; one that a power cut tore is closed first.
      const { size } = await file.stat();
      const last = Buffer.alloc(1);
      await file.read(last, 0, 1, Math.max(0, size - 1));
      const torn = size > 0 && last.toString() !== '\n';
      await file.appendFile(`${torn ? '\n' : ''}${JSON.stringify(head)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await syncFolderOf(this.#path);
    this.#minute = minute;
  }
}
