import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { compareWithRelease } from '../../../../gateway/commands/schema-diff/compare.ts';
import { composeSupergraph } from '../../../../gateway/graph/compose.ts';
import { ROOT } from '../../../harness/root.ts';
import { ownFolder } from '../../../harness/scratch.ts';

const run = promisify(execFile);
/** Removes variables that git sets for a hook, because they name the repository of the hook. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')));

const SUPERGRAPH = 'schema/supergraph.graphql';
const CHANGELOG = '.github/CHANGELOG.md';

describe('npm run schema-diff', () => {
  const BOOKS = 'type Query { book: Book! } type Book { seq: Int! taskId: String! }';
  const released = composeSupergraph([{ name: 'book', sdl: BOOKS }]);
  const without_seq = composeSupergraph([{ name: 'book', sdl: BOOKS.replace('seq: Int! ', '') }]);
  let checkout: string;
  const git = (...words: string[]) =>
    run('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...words], { cwd: checkout, env });
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(checkout, path)), { recursive: true });
    await writeFile(join(checkout, path), text);
  };
  const command = () =>
    run(process.execPath, [join(ROOT, 'gateway/commands/schema-diff.ts')], { cwd: checkout, env }).then(
      ({ stdout }) => ({ code: 0, said: stdout }),
      ({ code, stderr }) => ({ code, said: stderr }),
    );
  beforeAll(async () => {
    checkout = await ownFolder();
    await git('init', '--quiet');
    await write(SUPERGRAPH, released);
    await write(CHANGELOG, '# Changelog\n');
    await git('add', '.');
    await git('commit', '--quiet', '--no-verify', '--no-gpg-sign', '-m', 'Release');
  });

  it('passes where there is no tag, and says so', async () => {
    expect(await command()).toEqual({ code: 0, said: 'The graph was not compared: git has no tag here.\n' });
  });

  it('fails on what breaks clients of the last tag until the changelog names it', async () => {
    await git('tag', 'v1.0.0');
    expect(await compareWithRelease(checkout)).toEqual({ kind: 'noted', tag: 'v1.0.0', breaking: 0 });
    await write(SUPERGRAPH, without_seq);
    const refused = await command();
    expect(refused.code).toBe(1);
    expect(refused.said).toContain("Book.seq: Field 'seq' was removed");
    await write(CHANGELOG, '# Changelog\n- `Book.seq` is gone: ask for `Book.taskId`.\n');
    expect(await command()).toMatchObject({ code: 0, said: expect.stringContaining('v1.0.0: 1') });
  });
});
