import { writeFile } from 'node:fs/promises';
import { SUPERGRAPH_FILE } from '../../schema/supergraph.ts';
import { composeSupergraph } from '../graph/compose.ts';
import { subgraphs } from '../parts.ts';

/** `npm run compose`: writes the subgraphs' SDL and the supergraph, which is read at start. */
const all = await subgraphs();
for (const { name, sdl } of all) await writeFile(new URL(`${name}.graphql`, SUPERGRAPH_FILE), sdl);
await writeFile(SUPERGRAPH_FILE, composeSupergraph(all));
console.log(`composed ${all.map(({ name }) => name).join(', ')}`);
