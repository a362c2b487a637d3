import { mkdir, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { sha256Hex } from '../../../../schema/digest.ts';
import {
  createSlots,
  type OwnSlots,
  readSlots,
  SLOT_BYTES,
  takeOver,
  UnreadableHead,
} from '../../../../subgraphs/receipt/log/head-slots.ts';
import { headOf } from '../../../harness/log/leaves.ts';
import { atEnd } from '../../../harness/release.ts';
import { clearScratch, makeScratch, memoryFolder } from '../../../harness/scratch.ts';

const record = (leaves: string, epoch = 0) => ({ epoch, head: headOf(leaves) });

let folder: string;
let own: OwnSlots;
beforeEach(async () => {
  const scratch = await makeScratch(memoryFolder());
  atEnd(() => clearScratch(scratch));
  folder = join(scratch, 'log-head');
  const opened = await createSlots(folder, record('a'));
  atEnd(async () => opened.close());
  own = opened;
});

const read = () => {
  const found = readSlots(own.path, null);
  return found && { epoch: found.epoch, head: found.head };
};
/** The size that is read, or the fault. */
const readSize = () => {
  try {
    return read()?.head.tree_size;
  } catch (fault) {
    if (fault instanceof UnreadableHead) return 'unreadable';
    throw fault;
  }
};

describe('the file of one process', () => {
  it('has the newest head that was written, with its epoch, and never grows', async () => {
    for (const next of [record('ab', 3), record('abc', 3), record('abcd', 4)]) {
      expect(await own.write(next)).toBe(true);
      expect(read()).toEqual(next);
      expect((await stat(own.path)).size).toBe(2 * SLOT_BYTES);
    }
    expect(await readdir(folder)).toHaveLength(1);
  });

  it('is unreadable if a whole slot is of a form that this version does not know, because it may be the newest', async () => {
    await own.write(record('ab'));
    const text = JSON.stringify({ sequence: 9, epoch: 'later', head: {} });
    const line = `${sha256Hex(text)} ${text}\n`;
    await writeFile(own.path, (await readFile(own.path)).fill(line.padEnd(SLOT_BYTES), 0, SLOT_BYTES));
    expect(readSize()).toBe('unreadable');
  });

  it.each([1, 2, 3])('write %i, cut short at any byte: has the head before, or all of the new one', async writes => {
    const leaves = 'abcd';
    for (let size = 2; size <= writes; size++) await own.write(record(leaves.slice(0, size)));
    const before = await readFile(own.path);
    await own.write(record(leaves.slice(0, writes + 1)));
    const after = await readFile(own.path);
    const begin = after.subarray(0, SLOT_BYTES).equals(before.subarray(0, SLOT_BYTES)) ? SLOT_BYTES : 0;
    const sizes = new Set<unknown>();
    for (let cut = 0; cut <= SLOT_BYTES; cut++) {
      const torn = Buffer.concat([
        before.subarray(0, begin),
        after.subarray(begin, begin + cut),
        before.subarray(begin + cut),
      ]);
      await writeFile(own.path, torn);
      const size = readSize();
      sizes.add(size);
      const line = (bytes: Buffer) => bytes.subarray(begin, after.indexOf('\n', begin) + 1);
      expect(size === writes + 1, `cut at ${cut}`).toBe(line(torn).equals(line(after)));
    }
    expect([...sizes]).toEqual([writes, writes + 1]);
  });

  it('damaged at any byte: has one of its two heads, and never another', async () => {
    await own.write(record('ab'));
    const whole = await readFile(own.path);
    for (let at = 0; at < whole.length; at++) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] ?? 0) ^ 0x10;
      await writeFile(own.path, damaged);
      const head = read()?.head;
      expect(head, `at ${at}`).toEqual(head?.tree_size === 2 ? headOf('ab') : headOf('a'));
    }
  });

  it('shortened to any length: has one of its two heads, or is refused', async () => {
    await own.write(record('ab'));
    const sizes = new Set<unknown>();
    for (let length = 2 * SLOT_BYTES; length >= 0; length--) {
      await truncate(own.path, length);
      sizes.add(readSize());
    }
    expect([...sizes]).toEqual([2, 1, 'unreadable']);
  });

  it('is null once it is gone', async () => {
    await rm(own.path);
    expect(read()).toBeNull();
  });
});

describe('a file that another process takes over', () => {
  it('is still read, and no write to it counts', async () => {
    expect(takeOver(own.path)).toBe(true);
    expect(read()).toEqual(record('a'));
    expect(await own.write(record('ab'))).toBe(false);
  });

  it('counts no more once it is gone, or the whole folder is', async () => {
    await rm(dirname(own.path), { recursive: true });
    expect(await own.write(record('ab'))).toBe(false);
    expect(takeOver(own.path)).toBe(false);
    await mkdir(folder);
    expect(await own.write(record('abc'))).toBe(false);
  });

  it('counts no more once its folder has another name', async () => {
    await rename(folder, `${folder}-before`);
    expect(await own.write(record('ab'))).toBe(false);
  });
});
