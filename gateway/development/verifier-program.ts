import { join } from 'node:path';
import * as esbuild from 'esbuild';
import { ROOT } from '../built.js';

/* The verifier as browsers run it: what stands in for Node there, and the programs of the pages that run it. */

const VERIFY = join(ROOT, 'subgraphs/receipt/verify');

export const forBrowsers = {
  bundle: true,
  format: 'esm',
  target: 'es2022',
  tsconfig: join(ROOT, 'tsconfig.json'),
  platform: 'browser',
  // What a browser does not have, and what stands in its place.
  alias: {
    'node:crypto': join(VERIFY, 'browser/crypto.ts'),
    secp256k1: join(VERIFY, 'browser/secp256k1.ts'),
    'hash-wasm': join(VERIFY, 'browser/keccak.ts'),
  },
  inject: [join(VERIFY, 'browser/buffer.ts')],
} as const satisfies esbuild.BuildOptions;

/** Of `gateway/verifier-page/run/`: of the page of a receipt, and of the one that verifies what is dropped on it. */
type PageProgram = 'own-evidence' | 'drop';

const made = new Map<PageProgram, Promise<string>>();

/** Made once in a process. A script element ends at the first `</script` in it, wherever that is (HTML §4.12.1.3). */
export function pageProgram(name: PageProgram): Promise<string> {
  const making = made.get(name) ?? bundle(name);
  made.set(name, making);
  return making;
}

async function bundle(name: PageProgram): Promise<string> {
  const { outputFiles } = await esbuild.build({
    ...forBrowsers,
    entryPoints: [join(ROOT, `gateway/verifier-page/run/${name}.js`)],
    minify: true,
    write: false,
  });
  const text = outputFiles[0]?.text ?? '';
  return text.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
}
