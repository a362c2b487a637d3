import { oneScript } from './one-script.ts';

/** Each behind those that it imports. */
const modules = [
  'bytes',
  'texts',
  'signatures',
  'key-times',
  'merkle',
  'run',
  'log-checks',
  'facts',
  'receipt-checks',
  'refusal-checks',
  'show',
];

/** What the page runs: its modules one behind the other; a test runs the whole, and each by itself. */
export const SCRIPT = oneScript(modules.map(name => new URL(`./check/${name}.js`, import.meta.url)));
