import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { breakingChanges, unnoted } from '../../../gateway/commands/schema-diff/breaking-changes.ts';
import { compareWithRelease } from '../../../gateway/commands/schema-diff/compare.ts';
import { composeSupergraph } from '../../../gateway/graph/compose.ts';
import { ROOT } from '../../harness/root.ts';
import { ownFolder } from '../../harness/scratch.ts';

const run = promisify(execFile);
/** Run by a hook of git, these name the repository of the hook. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')));

const SUPERGRAPH = 'schema/supergraph.graphql';
const CHANGELOG = '.github/CHANGELOG.md';
const graph = await readFile(join(ROOT, SUPERGRAPH), 'utf8');

/** The graph with these changes, each made once. */
function changed(...changes: readonly (readonly [from: string | RegExp, to: string])[]): string {
  return changes.reduce((text, [from, to]) => {
    const other = text.replace(from, to);
    expect(other, String(from)).not.toBe(text);
    return other;
  }, graph);
}

const WITHOUT_SEQ = [/ {2}"""Its place in the book: from 1, without a gap."""\n {2}seq: Int!.*\n/, ''] as const;
const coordinates = async (before: string, after: string) =>
  (await breakingChanges(before, after)).map(({ coordinate }) => coordinate);

describe('what breaks clients of the graph', () => {
  it('is a field that is gone, an answer that may be null, an argument that has to be given, and another price', async () => {
    const after = changed(
      WITHOUT_SEQ,
      [/^ {2}replayCount: Int!/m, '  replayCount: Int'],
      ['first: Int', 'first: Int!'],
      [/(: ChatCompletion! .*@paid\(price: )"2000"/, '$1"3000"'],
    );
    const found = new Set(await coordinates(graph, after));
    expect(found).toEqual(
      new Set(['BookRow.seq', 'BookRow.replayCount', 'Book.rows.first', 'Mutation.createChatCompletion']),
    );
  });

  it('is not a field more, nor how it is divided among subgraphs', async () => {
    expect(await coordinates(changed(WITHOUT_SEQ), changed(['in-process:book', 'https://book.example']))).toEqual([]);
  });
});

describe('a breaking change', () => {
  const changes = [{ coordinate: 'Book.rows', message: 'It is gone.' }];
  const left = (before: string, after: string) => unnoted(changes, { before, after }).length;

  it('is noted by a new line of the changelog that names it', () => {
    expect(left('# Changelog\n', '# Changelog\n- `Book.rows` is gone.\n')).toBe(0);
  });

  it.each([
    ['no line', '# Changelog\n'],
    ['a line on something else', '# Changelog\n- `Book.rowsByDay` and `Book` and `OldBook.rows`\n'],
    ['prose alone', '# Changelog\n- Book.rows\n'],
  ])('is not noted by %s', (_, after) => {
    expect(left('# Changelog\n', after)).toBe(1);
  });

  it('nor by a line of the release before', () => {
    const line = '- `Book.rows` are new.\n';
    expect(left(line, `${line}- Something else.\n`)).toBe(1);
  });
});

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
    expect(await command()).toEqual({ code: 0, said: 'The graph is compared with nothing: git knows no tag here.\n' });
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

it('npm run check compares', async () => {
  const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  expect(scripts.check).toContain('npm run -s schema-diff');
});
