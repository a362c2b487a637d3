import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';

const BLOCK = 512;

/** Extracts a package that `npm pack` made (ustar, POSIX.1-2001) to a folder. */
export async function unpack(tarball: string, folder: string): Promise<void> {
  const archive = gunzipSync(await readFile(tarball));
  for (let at = 0; at + BLOCK <= archive.length && archive[at] !== 0; ) {
    const text = (from: number, length: number) =>
      archive
        .subarray(at + from, at + from + length)
        .toString()
        .replace(/\0.*$/s, '');
    const [name, bytes, kind] = [join(text(345, 155), text(0, 100)), Number.parseInt(text(124, 12), 8), text(156, 1)];
    // Only plain files are expected, because npm packs nothing else.
    if (kind !== '0') throw new Error(`${name} is of kind ${kind}`);
    const path = join(folder, name.replace(/^package\//, ''));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, archive.subarray(at + BLOCK, at + BLOCK + bytes));
    at += BLOCK + Math.ceil(bytes / BLOCK) * BLOCK;
  }
}
