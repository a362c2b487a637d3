import { type Rule, rule } from './rule.ts';
import type { Tree } from './tree.ts';

/* Rules for code that may occur in one place only, and for names. */

const LEDGER = 'subgraphs/book/ledger/';
const DEVELOPMENT = 'gateway/development/';
const WRITES_BOOKS = /(insert\s+into|update|delete\s+from|insertRows\(\s*\w+,)\s+'?book(_\w+)?\b/;
const SQL = /\b(select\s[\s\S]{1,200}?\sfrom\s+[a-z_]+|insert\s+into\s|update\s+[a-z_]+\s+set\s|delete\s+from\s)/;
const MIGRATION = /(\.|\/)migration\.ts$/;
const PREPARED = /\bname: (['`])((?:(?!\1).)+)\1,\s*text\b/g;
/** Start of a comment about the whole file. A comment that begins with @ is for bundlers and does not count. */
const HEAD = /^\/\*(?!\*| @)/gm;
/** A limit of a request that is written as a number. 0 and 1 are allowed, because they only state whether a member may be empty. */
const BOUND_IN_DIGITS = /(?<!Math)\.(?:max|length)\((?![01]\b)[\d_]+|2 \*\* 31\b/g;
const EMPTY_NAME = /(^|\/)(utils?|helpers?|common|shared|lib|misc|types|services?|repositor(y|ies))(\/|\.ts$)/;
/** Code that is called by the code which decides a call's outcome. */
const BELOW_THE_STORY =
  /^(gateway\/(config|rails|log|record|reconcile|operations)|subgraphs\/receipt\/(issuer|log|verify|receipt))\//;
/** Example programs of callers, which have no configuration of ours, and the command that starts them. */
const EXAMPLES = /^(rest-compat\/client\/examples\/|gateway\/commands\/example\.ts$)/;
/** Folders of test/ that contain files other than tests. */
const NO_TESTS = ['bench', 'compare', 'cost', 'covered', 'harness', 'often', 'tidy'];
/** Excluded, because rules contain the patterns that they forbid. */
const RULES = 'test/tidy/';
const topFolders = ['docs', 'gateway', 'rest-compat', 'schema', 'subgraphs', 'test'];

const withoutComments = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
const networkOf = (file: string) => file.match(/\/(base|solana|svm|chain)\//)?.[1] ?? 'none';
const isOfTests = (file: string) => file.startsWith('test/');

/** A name and the files that have it. A file is listed as often as it has the name. */
type Holders = readonly [name: string, files: readonly string[]];

function holders(files: readonly string[], namesIn: (file: string) => readonly string[]): readonly Holders[] {
  const found = new Map<string, string[]>();
  for (const file of files) for (const name of namesIn(file)) found.set(name, [...(found.get(name) ?? []), file]);
  return [...found];
}

/** A rule that allows a pattern in a few files only. */
function banned(stated: {
  readonly name: string;
  readonly remedy: string;
  readonly pattern: RegExp;
  may(file: string): boolean;
}): Rule {
  return rule({
    name: stated.name,
    remedy: stated.remedy,
    least: 1_000,
    subjects: tree => tree.sources.filter(file => !file.startsWith(RULES)),
    offences: (file, tree) => (stated.pattern.test(tree.text(file)) && !stated.may(file) ? [file] : []),
  });
}

export const placeRules: readonly Rule[] = [
  rule({
    name: 'the ledger alone writes the tables of books',
    remedy: `call a function of ${LEDGER}, which keeps counters and hash chains.`,
    least: 4,
    subjects: tree => tree.ours.filter(file => WRITES_BOOKS.test(tree.text(file)) && !MIGRATION.test(file)),
    offences: file => (file.startsWith(LEDGER) ? [] : [file]),
  }),
  rule({
    name: 'each prepared statement has a name of its own: a connection that has prepared another of that name refuses it',
    remedy: 'give one of them another name.',
    least: 51,
    subjects: tree =>
      holders(tree.ours, file => [...tree.text(file).matchAll(PREPARED)].map(([, , name = '']) => name)),
    offences: ([name, files]) => (files.length > 1 ? [`${name}: ${files.join(', ')}`] : []),
  }),
  rule({
    name: 'a name that is exported has one meaning; two networks may say the same word of themselves',
    remedy: 'call one of them something else.',
    least: 1_000,
    subjects: tree => holders(tree.ours, file => [...new Set(tree.exports(file))]),
    offences: ([name, files]) =>
      files.length > 1 && new Set(files.map(networkOf)).size < files.length ? [`${name}: ${files.join(', ')}`] : [],
  }),
  rule({
    name: 'the gateway holds no SQL: what a table says is told by the subgraph whose it is',
    remedy: 'move the statement to the subgraph.',
    least: 100,
    subjects: tree => tree.ours.filter(file => file.startsWith('gateway/') && !file.startsWith(DEVELOPMENT)),
    offences: (file, tree) => (SQL.test(withoutComments(tree.text(file))) ? [file] : []),
  }),
  rule({
    name: 'what is asked by the story of a call answers by what it found: the story alone refuses',
    remedy: 'return the outcome, and let the caller refuse.',
    least: 50,
    subjects: tree => tree.ours.filter(file => BELOW_THE_STORY.test(file) && !file.endsWith('.resolver.ts')),
    offences: (file, tree) => (tree.text(file).includes('new Refusal(') ? [file] : []),
  }),
  banned({
    name: 'the environment is read in gateway/config alone',
    remedy: 'make it a variable of gateway/config/variables.ts.',
    pattern: /process\.env\b/,
    may: file => file.startsWith('gateway/config') || isOfTests(file) || EXAMPLES.test(file),
  }),
  banned({
    name: 'no amount becomes a Number',
    remedy: 'keep it a bigint, as schema/amount.ts does.',
    pattern: /Number\([^)]*(amount|Atomic|_atomic)/,
    may: () => false,
  }),
  banned({
    name: 'there is one canonical serialiser',
    remedy: 'import schema/canonical-json.ts: another would sooner or later sign other bytes.',
    pattern: /from 'canonicalize'/,
    may: file => file === 'schema/canonical-json.ts' || isOfTests(file),
  }),
  banned({
    name: 'nothing is left to be done',
    remedy: 'do it, or take the remark out.',
    pattern: /\bTODO\b|\bFIXME\b|\bXXX\b/,
    may: () => false,
  }),
  rule({
    name: 'a bound of what callers send or are sent stands in the table of limits',
    remedy: 'name it in schema/limits.ts and refer to it, in descriptions too.',
    least: 200,
    subjects: tree => tree.ours.filter(file => /^(schema|rest-compat)\//.test(file) && file !== 'schema/limits.ts'),
    offences: (file, tree) =>
      [...withoutComments(tree.text(file)).matchAll(BOUND_IN_DIGITS)].map(([bound]) => `${file}: ${bound}`),
  }),
  rule({
    name: 'a file has one comment of its own at most',
    remedy: 'join them into one at its head, or write what is of one declaration above that.',
    least: 1_000,
    subjects: tree => tree.sources,
    offences: (file, tree) => ([...tree.text(file).matchAll(HEAD)].length > 1 ? [file] : []),
  }),
  rule({
    name: 'no folder or file has a name that says nothing',
    remedy: 'name it after what it is about.',
    least: 1_000,
    subjects: tree => tree.files,
    offences: file => (EMPTY_NAME.test(file) ? [file] : []),
  }),
  rule({
    name: `the folders of the root are ${topFolders.join(', ')}`,
    remedy: 'move it into the one that it belongs to.',
    least: topFolders.length,
    subjects: tree => tree.foldersIn('.').filter(folder => !folder.startsWith('.')),
    offences: folder => (topFolders.includes(folder) ? [] : [folder]),
  }),
  rule({
    name: 'each file of the second lane is in a table of test/README.md',
    remedy: 'say there which program it needs, and which promise no other test shows or where the first lane shows it.',
    least: 20,
    subjects: tree => tree.files.filter(file => /^test\/world\/.+\.test\.ts$/.test(file)),
    offences: (file, tree) => (tree.text('test/README.md').includes(`\`${file.slice('test/'.length)}\``) ? [] : [file]),
  }),
  rule({
    name: 'what tests share stands in test/harness',
    remedy: 'move it there, or call it *.test.ts.',
    least: 500,
    subjects: tree => tree.sources.filter(isOfTests),
    offences: file => (NO_TESTS.includes(file.split('/')[1] ?? '') || file.endsWith('.test.ts') ? [] : [file]),
  }),
  rule({
    name: 'tests are told by `it`',
    remedy: 'write it where test stands.',
    least: 500,
    subjects: (tree: Tree) => tree.sources.filter(isOfTests),
    offences: (file, tree) => (/^\s*test[.(]/m.test(tree.text(file)) ? [file] : []),
  }),
];
