import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { ROOT } from '../../harness/root.ts';
import { ownFolder } from '../../harness/scratch.ts';

const SOURCES = ['schema', 'subgraphs', 'rest-compat', 'gateway', 'tsconfig.json', 'package.json', 'package-lock.json'];
const LOCK = 'node_modules/.package-lock.json';

/** This project in another folder, after a pull of a newer lock file: with the libraries that were installed before. */
async function pulled(name: string, installed: string): Promise<string> {
  const folder = await ownFolder();
  for (const source of SOURCES) await cp(join(ROOT, source), join(folder, source), { recursive: true });
  await mkdir(join(folder, 'node_modules'));
  for (const library of await readdir(join(ROOT, 'node_modules')))
    if (!library.startsWith('.'))
      await symlink(join(ROOT, 'node_modules', library), join(folder, 'node_modules', library));
  const lock = JSON.parse(await readFile(join(ROOT, LOCK), 'utf8'));
  lock.packages[`node_modules/${name}`].version = installed;
  await writeFile(join(folder, LOCK), JSON.stringify(lock));
  return folder;
}

it('nothing is built of other libraries than the lock names, under whose name it would be kept', async () => {
  const cwd = await pulled('undici', '6.0.0');
  const built = promisify(execFile)(process.execPath, ['gateway/commands/build.ts'], { cwd });
  const { code, stderr } = await built.then(
    () => ({ code: 0, stderr: '' }),
    fault => ({ code: fault.code, stderr: String(fault.stderr) }),
  );
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /node_modules\/ is not what package-lock.json names \(node_modules\/undici is 6.0.0 and not [\d.]+\): run npm install/,
  );
  expect(await readdir(cwd)).not.toContain('dist');
});
