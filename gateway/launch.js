import { existsSync } from 'node:fs';
import { enableCompileCache, flushCompileCache } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { locateBuild } from './built.js';
import { reportStart } from './operations/report-start.js';
import { duringStart } from './operations/start-steps.js';

/*
 * `node gateway/launch.js gateway/main.ts`: starts one of our programs as `npm run build` has left it, with V8's compiled code kept beside
 * it. If these sources have not been built, they are built first, provided that the tools for it are installed. This file and those that it
 * imports are JavaScript: to strip types Node loads a compiler, which costs as much as Node's own start.
 */

/** @import { Built } from './built.js' */

/**
 * Programs that run until they are stopped. Others write nothing but their result.
 * @type {Readonly<Record<string, string>>}
 */
const SERVICES = {
  'gateway/main.ts': 'the spend receipt gateway',
  'gateway/commands/subgraph.ts': 'a subgraph of the spend receipt gateway',
};

const [entry = 'gateway/main.ts', ...rest] = process.argv.slice(2);
process.argv = [process.execPath, resolve(entry), ...rest];
const service = SERVICES[entry];
if (service !== undefined) reportStart(service);

/**
 * Null if nothing can be written: such an installation still starts, as slowly as from its sources.
 * @param {Built} built
 * @returns {Promise<Built | null>}
 */
async function ready(built) {
  if (existsSync(built.file)) return built;
  try {
    const { build } = await import('./development/build.ts');
    await duringStart('building the program from its sources, once after each change', build(built));
    return built;
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && fault.code === 'ERR_MODULE_NOT_FOUND') return notInstalled();
    process.emitWarning(`the program is not built, and starts slowly: ${fault}`);
    return null;
  }
}

/** @returns {never} */
function notInstalled() {
  console.error(
    'dist/ was not built from these sources, and the packages that build it (devDependencies) are not installed. Run npm install and npm run build where they can be installed, and copy dist/ here.',
  );
  process.exit(1);
}

const built = await ready(locateBuild(entry));
if (built === null) await import('./development/from-sources.ts');
else enableCompileCache(join(built.folder, 'v8'));
await import(pathToFileURL(built?.file ?? resolve(entry)).href);
// Once the program runs: by then all code that a start needs has run, and a process that is killed later would store nothing.
flushCompileCache();
