import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exampleNeeds } from '../../../gateway/commands/example/needs.ts';
import { EXAMPLES } from '../../harness/examples.ts';

/* The table of what examples need, beside their sources. */

/** Variables that a program reads. */
function variablesIn(source: string): readonly string[] {
  const read = [...source.matchAll(/^const \{(.*)\} = process\.env;$/gm)];
  return read.flatMap(([, names = '']) => names.match(/\b[A-Z_]{2,}\b/g) ?? []);
}

it('has each program of the folder, and no other file', async () => {
  const files = (await readdir(EXAMPLES)).filter(file => file.endsWith('.ts') && file !== 'keep-session.ts');
  expect([...exampleNeeds.keys()]).toEqual(files.map(file => file.slice(0, -3)).sort());
});

it.each([...exampleNeeds])('%s reads the keys and the session that its row names', async (name, { keys, session }) => {
  const variables = variablesIn(await readFile(join(EXAMPLES, `${name}.ts`), 'utf8'));
  expect(variables).toContain('SERVICE_URL');
  expect(variables.filter(variable => variable.endsWith('_KEY'))).toEqual(keys);
  expect(variables.includes('SESSION')).toBe(session !== 'unused');
});
