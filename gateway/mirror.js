import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, lstatSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/* Where programs are built if the checkout belongs to another user, as after an `npm install` by root. */

/**
 * Whether this user may write at a path, or make it.
 * @param {string} path
 * @returns {boolean}
 */
export function mayWrite(path) {
  if (!existsSync(path)) return dirname(path) !== path && mayWrite(dirname(path));
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * A folder of this user's own, in which everything but dist/ is the checkout's: what is built there finds its libraries
 * and files as it would in the checkout. The checkout itself where there can be none.
 * @param {string} root
 */
export function mirrorOf(root) {
  const own = join(tmpdir(), `spend-receipt-gateway-${process.getuid?.()}`);
  try {
    mkdirSync(own, { recursive: true, mode: 0o700 });
    const mirror = join(own, createHash('sha256').update(root).digest('hex').slice(0, 16));
    // In /tmp anybody may make a folder, or a link, of that name, and put programs into it.
    if (!isOurs(own)) return root;
    mkdirSync(mirror, { recursive: true, mode: 0o700 });
    if (!isOurs(mirror)) return root;
    for (const name of readdirSync(root)) if (name !== 'dist') link(join(root, name), join(mirror, name));
    return mirror;
  } catch {
    return root;
  }
}

/**
 * A folder, no link, into which nobody else may write.
 * @param {string} path
 */
function isOurs(path) {
  const found = lstatSync(path);
  return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
}

/**
 * @param {string} target
 * @param {string} path
 */
function link(target, path) {
  try {
    symlinkSync(target, path);
  } catch (fault) {
    if (!(fault instanceof Error && 'code' in fault && fault.code === 'EEXIST')) throw fault;
  }
}
