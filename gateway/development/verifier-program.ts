import { join } from 'node:path';
import * as esbuild from 'esbuild';
import { ROOT } from '../built.js';

/* The verifier for browsers: replacements of Node's modules, and the programs of the pages. */

const VERIFY = join(ROOT, 'subgraphs/receipt/verify');

export const browserBuild = {
  bundle: true,
  format: 'esm',
  target: 'es2022',
  tsconfig: join(ROOT, 'tsconfig.json'),
  platform: 'browser',
  // Replacements of modules that a browser does not have.
  alias: {
    'node:crypto': join(VERIFY, 'browser/crypto.ts'),
    secp256k1: join(VERIFY, 'browser/secp256k1.ts'),
    'hash-wasm': join(VERIFY, 'browser/keccak.ts'),
  },
  inject: [join(VERIFY, 'browser/buffer.ts')],
} as const satisfies esbuild.BuildOptions;

/** Names of programs in `gateway/verifier-page/run/`: of the page of a receipt, and of the offline page. */
type PageProgram = 'own-evidence' | 'drop';

const made = new Map<PageProgram, Promise<string>>();

/**
 * Text of a page's program, built once per process. `</script` in it is escaped, because a script element ends at the first one
 * (HTML section 4.12.1.3).
 */
export function pageProgram(name: PageProgram): Promise<string> {
  const making = made.get(name) ?? bundle(name);
  made.set(name, making);
  return making;
}

async function bundle(name: PageProgram): Promise<string> {
  const { outputFiles } = await esbuild.build({
    ...browserBuild,
    entryPoints: [join(ROOT, `gateway/verifier-page/run/${name}.js`)],
    minify: true,
    write: false,
  });
  const text = outputFiles[0]?.text ?? '';
  return text.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
}
