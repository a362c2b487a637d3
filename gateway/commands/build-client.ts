import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../built.js';
import { verifierPage } from '../verifier-page/page.ts';

/*
 * Writes the modules that programs of callers import into dist/client and dist/verify, and beside the verifier the page that verifies what
 * is dropped on it. Run by Node as it is.
 */

/** Another folder if one is given. */
const [, , OUT = join(ROOT, 'dist')] = process.argv;

const { writeClientModules } = await import('../development/client-modules.ts');
const { pageProgram } = await import('../development/verifier-program.ts');

await writeClientModules(OUT);
writeFileSync(join(OUT, 'verify/verify.html'), verifierPage(await pageProgram('drop')));
