import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { enableCompileCache, registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import { ROOT } from './root.ts';

/*
 * Node runs our sources as they are, in each worker of the tests: it strips types by itself, and keeps V8's code of what it
 * has loaded. Decorators and enums are more than types; the files that have them are compiled here, and what comes of it
 * is kept by its content.
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

/** Where nothing can be written, each worker compiles for itself. */
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
