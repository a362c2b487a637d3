import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as esbuild from 'esbuild';
import { ROOT } from '../built.js';
import { verifierPage } from '../verifier-page/page.ts';

/*
 * What is published of the verifier, into dist/verify: the module for Node, the one for browsers, and the page that verifies
 * what is dropped on it. Run by Node as it is, behind tsc, which has written the module's types there.
 */

const VERIFY = join(ROOT, 'subgraphs/receipt/verify');
/** Elsewhere where that is named. */
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
  // Native code, and what the package names as its dependencies, is found where the package is installed.
  packages: 'external',
});
await esbuild.build({
  ...forBrowsers,
  entryPoints: [join(VERIFY, 'browser/module.ts')],
  outfile: join(OUT, 'browser.js'),
});
mkdirSync(OUT, { recursive: true });
writeFileSync(join(OUT, 'verify.html'), verifierPage(await pageProgram('drop')));
