import { existsSync } from 'node:fs';
import { enableCompileCache, flushCompileCache } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Built, builtFrom } from './built.ts';

/*
 * `node gateway/launch.ts gateway/main.ts`: starts one of our programs as `npm run build` has left it, with V8's compiled code
 * kept beside it. Measured 0.8 s of CPU until everything is loaded, 5.8 s from the sources. Where there is none of these
 * sources it is built first, if what builds it is installed. Node itself strips the types of this file (no decorators here).
 */

const [entry = 'gateway/main.ts', ...rest] = process.argv.slice(2);
process.argv = [process.execPath, resolve(entry), ...rest];

/** Null where nothing can be written: an installation like that still starts, at the pace of its sources. */
async function ready(built: Built): Promise<Built | null> {
  if (existsSync(built.file)) return built;
  try {
    const { build } = await import('./development/build.ts');
    await build(built);
    return built;
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return notInstalled();
    process.emitWarning(`the program is not built, and starts slowly: ${fault}`);
    return null;
  }
}

function notInstalled(): never {
  console.error(
    'dist/ does not hold what is built from these sources, and what builds it is a devDependency: run npm install and npm run build where they are, and bring dist/ along.',
  );
  process.exit(1);
}

const built = await ready(builtFrom(entry));
if (built === null) await import('./development/from-sources.ts');
else enableCompileCache(join(built.folder, 'v8'));
await import(pathToFileURL(built?.file ?? resolve(entry)).href);
// Once it is up: by then all that a start needs has run, and a process that is killed later would keep nothing.
flushCompileCache();
