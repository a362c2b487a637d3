import { writeFile } from 'node:fs/promises';
import { composeSupergraph } from '../graph/compose.ts';
import { subgraphs } from '../subgraphs.ts';
import { SUPERGRAPH_FILE } from '../supergraph.ts';

/** Writes schema/<subgraph>.graphql and schema/supergraph.graphql, which are committed and read at start. */
const all = await subgraphs();
for (const { name, sdl } of all) await writeFile(new URL(`${name}.graphql`, SUPERGRAPH_FILE), sdl);
await writeFile(SUPERGRAPH_FILE, composeSupergraph(all));
console.log(`composed ${all.map(({ name }) => name).join(', ')}`);
