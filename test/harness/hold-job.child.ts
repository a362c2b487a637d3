import { openStore } from '../../gateway/parts.ts';
import { openTestJobs } from './jobs.ts';

/* A process that takes one job, prints that it holds it, and never completes it. Of every later job it prints the number of the run. */
const store = await openStore(String(process.argv[2]));
let holds = false;
const hold = async (_: unknown, { attempt }: { readonly attempt: number }) => {
  if (holds) return console.log(`run ${attempt}`);
  holds = true;
  console.log('held');
  await new Promise(() => {});
};
await openTestJobs(store, { tasks: { 'periodic/held': { run: hold } } });
console.log('open');
