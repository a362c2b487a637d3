import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';

/*
 * Which file a program starts from, once it is built: a folder named by the content of its sources. If the checkout belongs to another
 * user, as after an `npm install` by root, it is built elsewhere.
 */

export const ROOT = resolve(import.meta.dirname, '..');

/** What `npm run build` puts into files of their own: the service, the commands beside it, a thread of one of them, and the development Solana. */
const OWN_PROGRAMS = [
  'gateway/main.ts',
  ...commands(),
  'gateway/commands/verify/worker.ts',
  'gateway/development/svm/main.ts',
];
const OWN_SOURCES = ['schema', 'subgraphs', 'rest-compat', 'gateway'];
/** The folder of built programs that are not part of an installation. */
const CACHE = 'node_modules/.cache/spend-receipt-gateway';
/** The lock names the libraries that are built in. */
const BESIDE = ['tsconfig.json', 'package-lock.json'];

/**
 * A program as it is built. `folder` contains everything that was built from the same sources, and V8's compiled code of it;
 * `programs` are built together. `kept` older folders stay: a process that runs from one of them may still load a part of it.
 * @typedef {object} Built
 * @property {string} file
 * @property {string} folder
 * @property {string} root the checkout, or the mirror of it that contains the folder: what was built finds everything else from there
 * @property {readonly string[]} programs
 * @property {number} kept
 */

/**
 * The built file is never older than its sources, and an image may carry both to another place. Programs of the tests and the bench are
 * built separately, each when it is first run.
 * @param {string} entry
 * @returns {Built}
 */
export function locateBuild(entry) {
  const program = relative(ROOT, resolve(entry));
  const own = OWN_PROGRAMS.includes(program);
  const programs = own ? OWN_PROGRAMS : [program];
  const folders = own ? OWN_SOURCES : [...OWN_SOURCES, 'test'];
  const name = `${own ? 'programs' : fileName(program)}-${digest(folders)}`;
  const file = `${fileName(program)}.mjs`;
  const usual = join(ROOT, own ? 'dist' : CACHE, name);
  const root = existsSync(join(usual, file)) || mayWrite(usual) ? ROOT : mirrorOf(ROOT);
  const folder = root === ROOT ? usual : join(root, 'dist', name);
  return { file: join(folder, file), folder, root, programs, kept: own ? 2 : 0 };
}

function commands() {
  const names = readdirSync(join(ROOT, 'gateway', 'commands')).filter(name => name.endsWith('.ts'));
  return names.map(name => `gateway/commands/${name}`).sort();
}

/**
 * The file name of a program, from its path: unique among all programs, because they share one folder.
 * @param {string} program
 */
export function fileName(program) {
  return program.replace(/\.ts$/, '').replaceAll(/[^\w-]/g, '_');
}

/** @param {readonly string[]} folders */
function digest(folders) {
  const hash = createHash('sha256');
  for (const file of [...BESIDE, ...folders.flatMap(sourcesIn)]) {
    const content = readFileSync(join(ROOT, file));
    hash.update(`${file} ${content.length}\n`).update(content);
  }
  return hash.digest('hex').slice(0, 16);
}

/** @param {string} folder */
function sourcesIn(folder) {
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return names
    .filter(name => /\.[jt]s$/.test(name))
    .map(name => `${folder}/${name}`)
    .sort();
}

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
 * A folder of this user's own, in which everything but dist/ is the checkout's: what is built there finds its libraries and files as it
 * would in the checkout. The checkout itself if no such folder can be made.
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
 * Whether the path is a folder (not a link) of this user that no other user may enter.
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
