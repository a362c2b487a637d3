import { readFileSync } from 'node:fs';

/** Each behind those that it imports. */
const modules = [
  ...[
    'bytes',
    'signatures',
    'key-times',
    'merkle',
    'run',
    'log-checks',
    'facts',
    'receipt-checks',
    'refusal-checks',
    'show',
  ],
];

/**
 * What the page runs: its modules one behind the other, since one that stands in a page can import nothing. They name nothing
 * twice at their top; a test runs the whole, and each by itself.
 */
export const SCRIPT = modules
  .map(name => bare(readFileSync(new URL(`./check/${name}.js`, import.meta.url), 'utf8')))
  .join('\n');

function bare(source: string): string {
  return source.replaceAll(/^import [^;]*;\n/gm, '').replaceAll(/^export (?=(async )?function |const )/gm, '');
}
