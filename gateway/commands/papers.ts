import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serviceFolders } from './papers/folders.ts';
import { pagesAsDerived } from './papers/pages.ts';

/**
 * `npm run papers`: writes the generated parts of each README.md: lists of folders, endpoints and environment variables. Node runs
 * this file from the sources, which is faster than a build.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));
const files = serviceFolders.flatMap(top =>
  readdirSync(join(root, top), { recursive: true, encoding: 'utf8' }).map(path => `${top}/${path}`),
);
const pages = pagesAsDerived({ files, text: file => readFileSync(join(root, file), 'utf8') });
for (const [path, page] of pages) writeFileSync(join(root, path), page);
console.log(`wrote ${pages.size} pages`);
