import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/*
 * Starts one of our programs: `node gateway/launch.ts gateway/main.ts`. Our TypeScript is put into one file first, once per
 * change of it, and V8's compiled code is kept beside: measured 2.0 s of CPU until everything is loaded, against 5.8 s
 * where each module is found, transpiled and compiled anew. Node itself strips the types of this file (no decorators here).
 */

const ROOT = resolve(import.meta.dirname, '..');
const CACHE = join(ROOT, 'node_modules', '.cache', 'spend-receipt-gateway');
const SOURCES = ['{schema,subgraphs,rest-compat,gateway,test}/**/*.ts', 'tsconfig.json', 'package-lock.json'];

const [entry = 'gateway/main.ts', ...rest] = process.argv.slice(2);
process.argv = [process.execPath, resolve(entry), ...rest];

const bundle = await bundled(resolve(entry));
if (bundle === null) (await import('tsx/esm/api')).register();
else enableCompileCache(join(CACHE, 'v8'));
await import(pathToFileURL(bundle ?? resolve(entry)).href);

/** Null where there is nowhere to keep it: an installation that cannot be written to still starts, at tsx's pace. */
async function bundled(program: string): Promise<string | null> {
  const file = join(CACHE, `${basename(program, '.ts')}-${fingerprint(program)}.mjs`);
  if (existsSync(file)) return file;
  try {
    mkdirSync(CACHE, { recursive: true });
    const written = `${file}.${process.pid}`;
    await build(program, written);
    // Several processes may build at once: each writes its own, and any of them will do.
    renameSync(written, file);
    return file;
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && /^(EACCES|EROFS|EPERM|ENOSPC)$/.test(String(fault.code)))
      return null;
    throw fault;
  }
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

async function build(program: string, outfile: string): Promise<void> {
  const esbuild = await import('esbuild');
  await esbuild.build({
    entryPoints: [program],
    outfile,
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node22',
    // The graph, the tables and the migrations go by the names of their classes.
    keepNames: true,
    tsconfig: join(ROOT, 'tsconfig.json'),
    logLevel: 'error',
    plugins: [{ name: 'own places', setup: ({ onLoad }) => onLoad({ filter: /\.ts$/ }, ({ path }) => inPlace(path)) }],
  });
}

/** Sources find the files beside them by `import.meta`: in the bundle it says where each of them lies. */
function inPlace(path: string) {
  const contents = readFileSync(path, 'utf8')
    .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
    .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)));
  return { contents, loader: 'ts' as const };
}
