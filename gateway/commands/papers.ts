import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pagesAsDerived } from './papers/pages.ts';
import { serviceFolders } from './papers/rooms.ts';

/**
 * `npm run papers`: writes what is derived in each README.md: lists of rooms, the doors, the variables of the environment.
 * Run by Node as it is, which takes less than to build every program first.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));
const files = serviceFolders.flatMap(top =>
  readdirSync(join(root, top), { recursive: true, encoding: 'utf8' }).map(path => `${top}/${path}`),
);
const pages = pagesAsDerived({ files, text: file => readFileSync(join(root, file), 'utf8') });
for (const [path, page] of pages) writeFileSync(join(root, path), page);
console.log(`wrote ${pages.size} pages`);
