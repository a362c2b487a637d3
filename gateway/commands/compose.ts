import { writeFile } from 'node:fs/promises';
import { SUPERGRAPH_FILE } from '../../schema/supergraph.ts';
import { composeSupergraph } from '../graph/compose.ts';
import { subgraphs } from '../parts.ts';

/** `npm run compose`: writes the SDL of the subgraphs and of the supergraph. A start of the service reads these files. */
const all = await subgraphs();
for (const { name, sdl } of all) await writeFile(new URL(`${name}.graphql`, SUPERGRAPH_FILE), sdl);
await writeFile(SUPERGRAPH_FILE, composeSupergraph(all));
console.log(`composed ${all.map(({ name }) => name).join(', ')}`);
