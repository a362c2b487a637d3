import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { enableCompileCache, registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import { ROOT } from './root.ts';

/*
 * Each worker of the tests runs our TypeScript sources in Node directly, which strips the types and caches V8's compiled code. Decorators
 * and enums cannot be stripped, so files that have them are compiled here, and the result is cached under the hash of the source.
 */

const OURS = new URL('../../', import.meta.url).href;
const CACHE = join(ROOT, 'node_modules', '.cache', 'spend-receipt-gateway', 'tests');
const MORE_THAN_TYPES = /^\s*@[A-Z]\w*\(|^(export )?(const )?enum /m;
const { compilerOptions } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8'));
const tsconfigRaw = { compilerOptions };

enableCompileCache(join(CACHE, 'v8'));
registerHooks({
  load(url, context, nextLoad) {
    const [address = ''] = url.split('?');
    if (!address.startsWith(OURS) || !address.endsWith('.ts') || address.includes('/node_modules/'))
      return nextLoad(url, context);
    const path = fileURLToPath(address);
    const source = readFileSync(path, 'utf8');
    if (!MORE_THAN_TYPES.test(source)) return nextLoad(url, context);
    return { format: 'module', source: compiled(path, source), shortCircuit: true };
  },
});

function compiled(path: string, source: string): string {
  const kept = join(CACHE, `${createHash('sha256').update(`${path}\n${source}`).digest('hex').slice(0, 32)}.js`);
  try {
    return readFileSync(kept, 'utf8');
  } catch {
    const { code } = transformSync(source, { loader: 'ts', tsconfigRaw, sourcefile: path, sourcemap: 'inline' });
    keep(kept, code);
    return code;
  }
}

/** Writes to the cache. If the folder cannot be written to, each worker compiles for itself. */
function keep(path: string, code: string): void {
  try {
    mkdirSync(CACHE, { recursive: true });
    const own = `${path}.${process.pid}`;
    writeFileSync(own, code);
    renameSync(own, path);
  } catch (fault) {
    if (!['EACCES', 'EROFS', 'EPERM'].includes((fault as NodeJS.ErrnoException).code ?? '')) throw fault;
  }
}
