import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pagesAsDerived } from './papers/pages.ts';

/** `npm run papers`: writes what is derived in each README.md: lists of files, the doors, the variables of the environment. */
const root = fileURLToPath(new URL('../..', import.meta.url));
const pages = await pagesAsDerived(root);
for (const [path, page] of pages) await writeFile(join(root, path), page);
console.log(`wrote ${pages.size} pages`);
