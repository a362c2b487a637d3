import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { ROOT } from '../harness/root.ts';
import { ownFolder } from '../harness/scratch.ts';

it('dist/verify/verify.html is one file, under a policy that lets it run its own script and reach nobody', async () => {
  const folder = await ownFolder();
  await promisify(execFile)(process.execPath, ['gateway/commands/build-verifier.ts', folder], { cwd: ROOT });
  const path = join(folder, 'verify.html');
  const html = await readFile(path, 'utf8');
  const [, policy = ''] = /http-equiv="content-security-policy" content="([^"]+)"/.exec(html) ?? [];
  expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+';/);
  expect(policy).not.toMatch(/https?:|unsafe|\*|connect-src/);
  expect((await stat(path)).size).toBeLessThan(300_000);
});
