import { run } from '../operations/run.ts';
import { USAGE, witnessOptions } from './witness/options.ts';
import { runWitness } from './witness/run-witness.ts';

/* `npm run witness -- URL`: follows a transparency log, proves that each checkpoint extends the last one, and cosigns it. */

await run(
  async () => {
    const options = witnessOptions(process.argv.slice(2));
    if (options === 'help') console.log(USAGE);
    else process.exitCode = await runWitness(options);
  },
  { usage: USAGE },
);
