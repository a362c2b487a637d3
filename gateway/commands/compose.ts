import { readFile, writeFile } from 'node:fs/promises';
import { composeSupergraph } from '../graph/compose.ts';
import { SUPERGRAPH_FILE } from '../graph/open-graph.ts';
import { subgraphs } from '../parts.ts';
import { withDoorTable } from './door-table.ts';

/** Writes what is derived and committed: the subgraphs' SDL, the supergraph (read at start), the README's door table. */
const all = await subgraphs();
for (const { name, sdl } of all) await writeFile(new URL(`${name}.graphql`, SUPERGRAPH_FILE), sdl);
await writeFile(SUPERGRAPH_FILE, composeSupergraph(all));
const readme = new URL('../../README.md', import.meta.url);
await writeFile(readme, withDoorTable(await readFile(readme, 'utf8')));
console.log(`composed ${all.map(({ name }) => name).join(', ')}`);
