import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as esbuild from 'esbuild';
import { ROOT } from '../built.js';
import { verifierPage } from '../verifier-page/page.ts';

/*
 * Builds the published verifier into dist/verify: the module for Node, the one for browsers, and the page that verifies
 * documents that are dropped on it. Node runs it from the sources, after tsc has written the module's types there.
 */

const VERIFY = join(ROOT, 'subgraphs/receipt/verify');
/** The output folder; the first argument changes it. */
const [, , OUT = join(ROOT, 'dist/verify')] = process.argv;

const { forBrowsers, pageProgram } = await import('../development/verifier-program.ts');

await esbuild.build({
  bundle: true,
  format: 'esm',
  target: 'es2022',
  tsconfig: join(ROOT, 'tsconfig.json'),
  entryPoints: [join(VERIFY, 'module.ts')],
  outfile: join(OUT, 'node.js'),
  platform: 'node',
  // Native code and the package's dependencies are resolved where the package is installed.
  packages: 'external',
});
await esbuild.build({
  ...forBrowsers,
  entryPoints: [join(VERIFY, 'browser/module.ts')],
  outfile: join(OUT, 'browser.js'),
});
mkdirSync(OUT, { recursive: true });
writeFileSync(join(OUT, 'verify.html'), verifierPage(await pageProgram('drop')));
