import { witnessOptions } from '../../../gateway/commands/witness/options.ts';
import { runWitness } from '../../../gateway/commands/witness/run-witness.ts';

/* A witness that prints one step and then waits there for a test to kill it. */

const [step, ...args] = process.argv.slice(2);
const options = witnessOptions(args);
if (options === null || options === 'help') throw new Error('the options are wrong');

const say = (what: object) => process.stdout.write(`${JSON.stringify(what)}\n`);
console.log = (line: string) => {
  const url = /^Serving add-checkpoint on (.+)$/.exec(line)?.[1];
  if (url !== undefined) say({ url });
};
process.exitCode = await runWitness(options, async reached => {
  if (reached !== step) return;
  say({ reached });
  await new Promise(resolve => setTimeout(resolve, 600_000));
});
