import { enableCompileCache, flushCompileCache } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundled } from './bundle.ts';

/*
 * Starts one of our programs: `node gateway/launch.ts gateway/main.ts`, from its bundle, with V8's compiled code kept beside.
 * Node itself strips the types of this file and of the bundle's (no decorators here).
 */

const [entry = 'gateway/main.ts', ...rest] = process.argv.slice(2);
process.argv = [process.execPath, resolve(entry), ...rest];

const bundle = await bundled(resolve(entry));
if (bundle === null) (await import('tsx/esm/api')).register();
else enableCompileCache(join(bundle.folder, 'v8'));
await import(pathToFileURL(bundle?.file ?? resolve(entry)).href);
// Once it is up: by then all that a start needs has run, and a process that is killed later would keep nothing.
flushCompileCache();
