import { locateBuild } from '../built.js';

/* `npm run build`: builds every program into `dist/`, unless it is built already. Node runs it from the sources. */

const { build } = await import('../development/build.ts');
const built = locateBuild('gateway/main.ts');
await build(built);
console.log(`built ${built.programs.length} programs in ${built.folder}`);
