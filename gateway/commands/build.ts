import { builtFrom } from '../built.js';

/* `npm run build`: makes what the other commands start from, where it is not there yet. Run by Node as it is. */

const { build } = await import('../development/build.ts');
const built = builtFrom('gateway/main.ts');
await build(built);
console.log(`built ${built.programs.length} programs in ${built.folder}`);
