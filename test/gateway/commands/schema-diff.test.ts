import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { breakingChanges, changesWithoutNote } from '../../../gateway/commands/schema-diff/compare.ts';
import { ROOT } from '../../harness/root.ts';

const SUPERGRAPH = 'schema/supergraph.graphql';
const graph = await readFile(join(ROOT, SUPERGRAPH), 'utf8');

/** The graph with these changes, each made once. */
function changed(...changes: readonly (readonly [from: string | RegExp, to: string])[]): string {
  return changes.reduce((text, [from, to]) => {
    const other = text.replace(from, to);
    expect(other, String(from)).not.toBe(text);
    return other;
  }, graph);
}

const WITHOUT_SEQ = [/ {2}"""Number of the row in its book: from 1, without gaps."""\n {2}seq: Int!.*\n/, ''] as const;
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
  const left = (before: string, after: string) => changesWithoutNote(changes, { before, after }).length;

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

it('npm run check compares', async () => {
  const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  expect(scripts.check).toContain('npm run -s schema-diff');
});
