import { run } from '../operations/run.ts';
import { USAGE, witnessOptions } from './witness/options.ts';
import { runWitness } from './witness/run-witness.ts';

/* `npm run witness -- URL`: follows a transparency log, proves that each checkpoint extends the last, and cosigns it. */

await run(async () => {
  const options = witnessOptions(process.argv.slice(2));
  if (options === 'help') return console.log(USAGE);
  if (options !== null) {
    process.exitCode = await runWitness(options);
    return;
  }
  console.error(USAGE);
  process.exitCode = 2;
});
