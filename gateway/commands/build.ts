import { locateBuild } from '../built.js';

/* `npm run build`: builds all programs into `dist/`, unless they are already built. Node runs this file from the sources. */

const { build } = await import('../development/build.ts');
const built = locateBuild('gateway/main.ts');
await build(built);
console.log(`built ${built.programs.length} programs in ${built.folder}`);
