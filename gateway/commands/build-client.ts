import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../built.js';
import { verifierPage } from '../verifier-page/page.ts';

/*
 * Writes the modules that callers' programs import into dist/client and dist/verify, together with the verifier's page, which
 * verifies files that are dropped on it. Node runs this file directly from its source.
 */

/** The output folder, `dist` by default. */
const [, , OUT = join(ROOT, 'dist')] = process.argv;

const { writeClientModules } = await import('../development/client-modules.ts');
const { pageProgram } = await import('../development/verifier-program.ts');

await writeClientModules(OUT);
writeFileSync(join(OUT, 'verify/verify.html'), verifierPage(await pageProgram('drop')));
