import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findRooms, roomList } from '../../gateway/commands/papers/folders.ts';
import { ROOT } from '../harness/root.ts';
import { productionPrograms } from './imports.ts';
import { report } from './rule.ts';
import { rules } from './rules.ts';
import { Tree } from './tree.ts';

/* Checks that each rule of `npm run tidy` finds a planted offence in a small checkout, and none after it is corrected. */

type Texts = Readonly<Record<string, string>>;

function treeOf(texts: Texts): Tree {
  return new Tree(Object.keys(texts), file => {
    const text = texts[file];
    if (text === undefined) throw new Error(`${file} is not there`);
    return text;
  });
}

/** Offences of a rule in a checkout, even if it has fewer subjects than the rule requires. */
function offences(name: string, texts: Texts): readonly string[] {
  const rule = rules.find(one => one.name.startsWith(name));
  if (rule === undefined) throw new Error(`there is no rule ${name}`);
  return rule.find(treeOf(texts)).offences;
}

const programs: Texts = Object.fromEntries(productionPrograms.map(file => [file, '']));
const client = { ...programs, 'rest-compat/client/paying-fetch.ts': '' };
const manifest = (dependencies: object, devDependencies: object) =>
  JSON.stringify({ dependencies, devDependencies, name: 'planted' });
const marked = (list: string) => `# A room\n\nWhat it is for.\n\n<!-- rooms -->\n${list}\n<!-- /rooms -->\n`;
const file = '/** What it does. */\nexport const it = 1;\n';
const pages: Texts = {
  'README.md': '',
  'test/README.md': '',
  'test/bench/README.md': '',
  '.github/CHANGELOG.md': '',
  '.github/CONTRIBUTING.md': '',
  '.github/SECURITY.md': '',
};
const lines = (count: number) => 'A line.\n'.repeat(count);

/** By the start of a rule's name: a file that breaks the rule, the offence that is found, and the same file corrected. */
const planted: Readonly<
  Record<string, { readonly wrong: Texts; readonly found: string; readonly right: Texts; readonly around?: Texts }>
> = {
  'imports point one way': {
    wrong: { 'schema/a.ts': "import { b } from '../gateway/b.ts';\n" },
    found: 'schema/a.ts imports gateway/b.ts',
    right: { 'schema/a.ts': "import { b } from './b.ts';\n" },
  },
  'in the gateway imports point from the right to the left of config': {
    wrong: { 'gateway/rails/a.ts': "import type { B } from '../call/b.ts';\n" },
    found: 'gateway/rails/a.ts imports gateway/call/b.ts',
    right: { 'gateway/call/b.ts': "import type { A } from '../rails/a.ts';\n" },
  },
  'in the gateway imports point from the right to the left of rates, graph': {
    wrong: { 'gateway/rates/a.ts': "import { b } from '../sockets/b.ts';\n" },
    found: 'gateway/rates/a.ts imports gateway/sockets/b.ts',
    right: { 'gateway/sockets/b.ts': "import { a } from '../rates/a.ts';\n" },
  },
  'in the gateway imports point from the right to the left of operations, graph': {
    wrong: { 'gateway/operations/a.ts': "import { b } from '../graph/b.ts';\n" },
    found: 'gateway/operations/a.ts imports gateway/graph/b.ts',
    right: { 'gateway/graph/b.ts': "import { a } from '../operations/a.ts';\n" },
  },
  'in the gateway imports point from the right to the left of operations, jobs': {
    wrong: { 'gateway/jobs/a.ts': "import { b } from '../reconcile/b.ts';\n" },
    found: 'gateway/jobs/a.ts imports gateway/reconcile/b.ts',
    right: { 'gateway/reconcile/b.ts': "import { a } from '../jobs/a.ts';\n" },
  },
  'in the gateway imports point from the right to the left of rates, operations': {
    wrong: { 'gateway/rates/a.ts': "import { b } from '../operations/b.ts';\n" },
    found: 'gateway/rates/a.ts imports gateway/operations/b.ts',
    right: { 'gateway/operations/b.ts': "import { a } from '../rates/a.ts';\n" },
  },
  'nobody imports a table': {
    wrong: { 'subgraphs/board/a.ts': "import { Row } from '../book/row.entity.ts';\n" },
    found: 'subgraphs/board/a.ts imports subgraphs/book/row.entity.ts',
    right: { 'subgraphs/board/a.ts': "import type { Row } from '../book/row.entity.ts';\n" },
  },
  'nothing imports what the specification does not ask for': {
    wrong: { 'subgraphs/board/post/a.ts': "import type { B } from '../score/b.ts';\n" },
    found: 'subgraphs/board/post/a.ts imports subgraphs/board/score/b.ts',
    right: {
      'subgraphs/board/score/b.ts': "import { a } from '../post/a.ts';\n",
      'subgraphs/book/reconciliation/a.ts': "import { b } from '../../receipt/totals/b.ts';\n",
      'subgraphs/receipt/verify/a.ts': "import { b } from '../../../schema/cose.ts';\n",
      'gateway/features/every-feature.ts': "import { b } from './score.ts';\n",
    },
  },
  'the verifier imports schema alone': {
    wrong: { 'subgraphs/receipt/verify/a.ts': "import { b } from '../claim/b.ts';\n" },
    found: 'subgraphs/receipt/verify/a.ts imports subgraphs/receipt/claim/b.ts',
    right: { 'subgraphs/receipt/verify/a.ts': "import { b } from '../../../schema/b.ts';\nimport './c.ts';\n" },
  },
  'the second verifier of the tests': {
    wrong: { 'test/harness/second-verifier/a.ts': "import { b } from '../../../schema/b.ts';\n" },
    found: 'test/harness/second-verifier/a.ts imports schema/b.ts',
    right: { 'test/harness/second-verifier/a.ts': "import { p256 } from '@noble/curves/nist.js';\n" },
  },
  'no file imports itself round about': {
    wrong: {
      'schema/a.ts': "import {\n  b,\n} from './b.ts';\n",
      'schema/b.ts': "import type { A } from './a.ts';\n",
    },
    found: 'schema/a.ts → schema/b.ts → schema/a.ts',
    right: { 'schema/a.ts': "import { b } from './b.ts';\n", 'schema/b.ts': '' },
  },
  'production imports no devDependency': {
    around: { 'package.json': manifest({ pg: '1' }, { vitest: '1' }) },
    wrong: { ...programs, 'gateway/main.ts': "import './a.ts';\n", 'gateway/a.ts': "import { it } from 'vitest';\n" },
    found: 'gateway/a.ts imports vitest',
    right: { ...programs, 'gateway/main.ts': "import type { it } from 'vitest';\nimport pg from 'pg';\n" },
  },
  'production, or the client that is published, imports each of the dependencies': {
    around: { 'package.json': manifest({ pg: '1' }, {}) },
    wrong: client,
    found: 'package.json: pg',
    right: { ...client, 'gateway/main.ts': "const { default: pg } = await import('pg');\n" },
  },
  'nothing outside of it loads the stand-ins': {
    wrong: { 'gateway/a.ts': "import { b } from './development/b.ts';\n" },
    found: 'gateway/a.ts imports gateway/development/b.ts',
    right: { 'gateway/a.ts': "const { b } = await import('./development/b.ts');\n" },
  },
  'nothing that a call of a door goes through': {
    around: { 'rest-compat/call.ts': "import { a } from './a.ts';\n" },
    wrong: { 'rest-compat/a.ts': "import type { Server } from 'node:http';\n" },
    found: 'rest-compat/a.ts imports node:http',
    right: { 'rest-compat/a.ts': "import { text } from 'node:stream/consumers';\n" },
  },
  'each subgraph has one index': {
    wrong: { 'subgraphs/book/index.ts': "export { a } from './a.ts';\n", 'subgraphs/book/policy/index.ts': '' },
    found: 'subgraphs/book/index.ts re-exports',
    right: { 'subgraphs/book/index.ts': "import { a } from './a.ts';\nexport const b = a;\n" },
  },
  'the ledger alone writes': {
    wrong: { 'subgraphs/book/a.ts': 'const text = `update book_row set seq = 1`;\n' },
    found: 'subgraphs/book/a.ts',
    right: { 'subgraphs/book/ledger/a.ts': 'const text = `update book_row set seq = 1`;\n' },
  },
  'each prepared statement has a name of its own': {
    wrong: { 'schema/a.ts': "query({ name: 'row', text });\n", 'schema/b.ts': "query({ name: 'row', text });\n" },
    found: 'row: schema/a.ts, schema/b.ts',
    right: { 'schema/a.ts': "query({ name: 'row', text });\n", 'schema/b.ts': 'query({ name: `rows`, text });\n' },
  },
  'a name that is exported has one meaning': {
    wrong: { 'schema/a.ts': 'export const fee = 1;\n', 'schema/b.ts': 'export async function fee() {}\n' },
    found: 'fee: schema/a.ts, schema/b.ts',
    right: { 'rails/base/a.ts': 'export const fee = 1;\n', 'rails/solana/b.ts': 'export function fee() {}\n' },
  },
  'the gateway holds no SQL': {
    wrong: { 'gateway/a.ts': 'const text = `select seq from book_row`;\n' },
    found: 'gateway/a.ts',
    right: { 'gateway/a.ts': '/* What to select is taken from rows. */\n' },
  },
  'what is asked by the story of a call': {
    wrong: { 'gateway/log/a.ts': "throw new Refusal('log_halted');\n" },
    found: 'gateway/log/a.ts',
    right: { 'gateway/call/a.ts': "throw new Refusal('log_halted');\n" },
  },
  'the environment is read in gateway/config': {
    wrong: { 'gateway/a.ts': 'const { PORT } = process.env;\n' },
    found: 'gateway/a.ts',
    right: { 'gateway/config/a.ts': 'const { PORT } = process.env;\n' },
  },
  'no amount becomes a Number': {
    wrong: { 'schema/a.ts': 'const all = Number(row.amount);\n' },
    found: 'schema/a.ts',
    right: { 'schema/a.ts': 'const all = BigInt(row.amount);\n' },
  },
  'there is one canonical serialiser': {
    wrong: { 'schema/a.ts': "import canonicalize from 'canonicalize';\n" },
    found: 'schema/a.ts',
    right: { 'schema/canonical-json.ts': "import canonicalize from 'canonicalize';\n" },
  },
  'nothing is left to be done': {
    wrong: { 'schema/a.ts': '// TODO: count them.\n' },
    found: 'schema/a.ts',
    right: { 'schema/a.ts': '// Counted.\n' },
  },
  'a bound of what callers send': {
    wrong: { 'schema/requests/a.ts': 'const Text = z.string().max(64);\n' },
    found: 'schema/requests/a.ts: .max(64',
    right: { 'schema/requests/a.ts': '/** Not .max(64). */\nconst Text = z.string().max(limits.id_chars_max);\n' },
  },
  'a file has one comment of its own': {
    wrong: { 'schema/a.ts': '/* One. */\n\n/* Another. */\n' },
    found: 'schema/a.ts',
    right: { 'schema/a.ts': '/* One. */\n\n/** Of what follows. */\n/* @__NO_SIDE_EFFECTS__ */\n' },
  },
  'no folder or file has a name that says nothing': {
    wrong: { 'schema/utils/a.ts': '' },
    found: 'schema/utils/a.ts',
    right: { 'schema/amount.ts': '' },
  },
  'the folders of the root are': {
    wrong: { 'scripts/a.ts': '' },
    found: 'scripts',
    right: { '.ci/run': '', 'schema/a.ts': '' },
  },
  'each file of the second lane is in a table': {
    around: { 'test/README.md': '' },
    wrong: { 'test/world/doors/pages.test.ts': '' },
    found: 'test/world/doors/pages.test.ts',
    right: {
      'test/world/doors/pages.test.ts': '',
      'test/README.md': '| `world/doors/pages.test.ts` | Chromium | … |\n',
    },
  },
  'what tests share stands in test/harness': {
    wrong: { 'test/doors/wallets.ts': '' },
    found: 'test/doors/wallets.ts',
    right: { 'test/doors/a.test.ts': '', 'test/harness/doors/wallets.ts': '' },
  },
  'tests are told by `it`': {
    wrong: { 'test/doors/a.test.ts': "test('pays', () => {});\n" },
    found: 'test/doors/a.test.ts',
    right: { 'test/doors/a.test.ts': "it('pays', () => {});\n" },
  },
  'each room has a page': {
    wrong: { 'subgraphs/new/a.ts': '' },
    found: 'subgraphs/new',
    right: { 'subgraphs/new/README.md': '' },
  },
  'each page of a room begins with what the room is for': {
    around: { 'schema/README.md': '' },
    wrong: { 'schema/a/README.md': '# A\n\n<!-- rooms -->\n' },
    found: 'schema/a/README.md',
    right: { 'schema/a/README.md': '# A\n\nWhat it is for.\n' },
  },
  'each page of a room that holds others lists them': {
    around: { 'schema/inner/README.md': '# Inner\n\nWhat it is for.\n' },
    wrong: { 'schema/README.md': '# Schema\n' },
    found: 'schema/README.md',
    right: { 'schema/README.md': marked('') },
  },
  'each file says in a sentence what it is for': {
    around: { 'schema/README.md': '' },
    wrong: { 'schema/a.ts': 'export const it = 1;\n' },
    found: 'schema/a.ts',
    right: { 'schema/a.ts': file },
  },
  'what is derived on a page': {
    around: { 'schema/inner/README.md': '# Inner\n\nWhat it is for.\n' },
    wrong: { 'schema/README.md': marked('- [other/](other/README.md): What was here before.') },
    found: 'schema/README.md',
    right: { 'schema/README.md': marked('- [inner/](inner/README.md): What it is for.') },
  },
  'the root page has at most': {
    around: pages,
    wrong: { 'test/README.md': lines(101) },
    found: 'test/README.md: 101',
    right: { 'README.md': lines(80), 'docs/call.md': lines(200), '.github/CHANGELOG.md': lines(200) },
  },
  'README.md and each page of docs/': {
    around: pages,
    wrong: { 'docs/call.md': lines(451) },
    found: 'docs/call.md: 902',
    right: { 'docs/call.md': lines(450) },
  },
  'all pages called README.md': {
    around: { 'README.md': '' },
    wrong: { 'schema/README.md': lines(6_000), 'test/README.md': lines(6_501) },
    found: 'test/README.md: 13002 of 25002',
    right: { 'schema/README.md': lines(6_000), 'test/README.md': lines(6_500) },
  },
  'no link on a page': {
    around: { ...pages, 'schema/a.ts': '' },
    wrong: { 'README.md': '[schema](schema/b.ts) and `schema/c.ts`\n' },
    found: 'README.md: schema/b.ts',
    right: {
      'README.md': '[schema](schema/a.ts), [all of it](schema/), [others](https://example.org) and `schema/a.ts`\n',
    },
  },
  'each variable of the environment': {
    wrong: { 'gateway/config/README.md': '- `GONE` (text): What it was.\n' },
    found: 'gateway/config/README.md: GONE',
    right: { 'gateway/config/README.md': '- `PORT` (text): Where it listens.\n' },
  },
  'each folder of tests is told of': {
    around: { 'test/doors/a.test.ts': '' },
    wrong: { 'test/README.md': '' },
    found: 'test/README.md: `doors/`',
    right: { 'test/README.md': '| `doors/` | each door |\n' },
  },
  'every promise of SECURITY.md': {
    around: { 'test/a.test.ts': '' },
    wrong: { '.github/SECURITY.md': '| promise | shown |\n| It holds | `test/b.test.ts` |\n| It holds too | |\n' },
    found: '.github/SECURITY.md: test/b.test.ts',
    right: { '.github/SECURITY.md': '| promise | shown |\n| It holds | `test/a.test.ts` |\n' },
  },
  'what is specified is served': {
    wrong: { 'README.md': '## Not yet here\n\n`/health`\n' },
    found: 'README.md: /health is served and named as missing',
    right: { 'README.md': '## Not yet here\n\nNothing.\n' },
  },
  'none of the policies is missing': {
    wrong: { 'README.md': '## Not yet here\n\n`kill_switch`\n' },
    found: 'README.md: kill_switch',
    right: { 'README.md': '## Not yet here\n\nNothing.\n' },
  },
};

describe('npm run tidy', () => {
  it.each(Object.entries(planted))('%s: finds what breaks it', (name, { wrong, found, right, around = {} }) => {
    expect(offences(name, { ...around, ...wrong })).toContain(found);
    expect(offences(name, { ...around, ...right })).not.toContain(found);
  });

  it('has no rule of which it is not known that it can be broken', () => {
    const shown = Object.keys(planted).map(name => rules.filter(rule => rule.name.startsWith(name)).length);
    expect(shown).toEqual(Array(rules.length).fill(1));
  });

  it('names file, rule and remedy, of all rules that are broken', () => {
    const all = rules.map(rule => ({ ...rule, least: 0 }));
    const said = report(
      all.filter(({ name }) => /^(nothing is left|tests are told|no amount)/.test(name)),
      treeOf({ 'schema/a.ts': '// FIXME\n', 'test/a.test.ts': "test('it', () => {});\n" }),
    );
    expect(said).toBe(
      [
        'Broken: nothing is left to be done.',
        '  schema/a.ts',
        '  What to do: do it, or take the remark out.',
        '',
        'Broken: tests are told by `it`.',
        '  test/a.test.ts',
        '  What to do: write it where test stands.',
      ].join('\n'),
    );
  });

  it('has no rule that passes where there is nothing to look at', () => {
    const empty = treeOf(pages);
    expect(rules.filter(rule => report([rule], empty) === '').map(({ name }) => name)).toEqual([]);
  });

  it('is part of `npm run check`', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(scripts.check).toContain('npm run -s tidy');
    expect(scripts.tidy).toContain('test/tidy/main.ts');
  });
});

describe('imports point one way', () => {
  const order = [
    'schema',
    'subgraphs',
    'subgraphs/receipt',
    'subgraphs/book',
    'subgraphs/session',
    'subgraphs/board',
    'gateway',
  ];

  it('from each layer to itself and to those before it, by whatever words', () => {
    const layer = fc.nat({ max: order.length - 1 });
    const words = fc.constantFrom(
      (path: string) => `import { a } from '${path}';\n`,
      (path: string) => `import type { A } from '${path}';\n`,
      (path: string) => `import {\n  type A,\n  b,\n} from '${path}';\n`,
      (path: string) => `import '${path}';\n`,
      (path: string) => `export * from '${path}';\n`,
      (path: string) => `  const a = await import('${path}');\n`,
    );
    fc.assert(
      fc.property(layer, layer, words, (from, to, statement) => {
        const up = '../'.repeat(order[from]?.split('/').length ?? 0);
        const found = offences('imports point one way', {
          [`${order[from]}/a.ts`]: `/* Why. */\n${statement(`${up}${order[to]}/b.ts`)}`,
        });
        expect(found).toHaveLength(to > from ? 1 : 0);
      }),
    );
  });
});

describe('a list of rooms', () => {
  it('is stale as soon as a room comes, goes or says something else', () => {
    const name = fc.constantFrom('amount', 'clock', 'errors', 'limits');
    const sentence = fc.constantFrom('What it does.', 'What it did.', 'Why it is here.');
    const inner = fc.dictionary(name, sentence);
    const room = (told: Readonly<Record<string, string>>, list: string): Texts => ({
      'schema/README.md': marked(list),
      ...Object.fromEntries(
        Object.entries(told).map(([key, text]) => [`schema/${key}/README.md`, `# A room\n\n${text}\n`]),
      ),
    });
    const listOf = (told: Readonly<Record<string, string>>) =>
      findRooms(treeOf(room(told, '')))
        .map(roomList)
        .filter(Boolean)
        .join('\n');
    fc.assert(
      fc.property(inner, inner, (before, after) => {
        const is_stale = listOf(before) !== listOf(after);
        const found = offences('what is derived on a page', room(after, listOf(before)));
        expect(found).toEqual(is_stale ? ['schema/README.md'] : []);
      }),
    );
  });
});
