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

/** What a browser does not have, and what stands in its place. */
const standIns: Readonly<Record<string, string>> = {
  'node:crypto': join(VERIFY, 'browser/crypto.ts'),
  secp256k1: join(VERIFY, 'browser/secp256k1.ts'),
  'hash-wasm': join(VERIFY, 'browser/keccak.ts'),
};

const always = { bundle: true, format: 'esm', target: 'es2022', tsconfig: join(ROOT, 'tsconfig.json') } as const;
const forBrowsers = {
  ...always,
  platform: 'browser',
  alias: standIns,
  inject: [join(VERIFY, 'browser/buffer.ts')],
} as const satisfies esbuild.BuildOptions;

await esbuild.build({
  ...always,
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
const { outputFiles } = await esbuild.build({
  ...forBrowsers,
  entryPoints: [join(ROOT, 'gateway/verifier-page/drop.js')],
  minify: true,
  write: false,
});
mkdirSync(OUT, { recursive: true });
writeFileSync(join(OUT, 'verify.html'), verifierPage(outputFiles[0]?.text ?? ''));
