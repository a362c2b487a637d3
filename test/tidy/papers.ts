import { basename, dirname, join } from 'node:path/posix';
import { findRooms, type RoomPage } from '../../gateway/commands/papers/folders.ts';
import { pagesAsDerived } from '../../gateway/commands/papers/pages.ts';
import { variables } from '../../gateway/config/variables.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { policyKinds } from '../../schema/policy-kinds.ts';
import { type Rule, rule } from './rule.ts';
import type { Tree } from './tree.ts';

/* Rules that keep README.md and the folders' pages correct: no list is out of date and no link is dead. */

const README = 'README.md';
const CHANGELOG = '.github/CHANGELOG.md';
const SECURITY = '.github/SECURITY.md';
const CONFIG_PAGE = 'gateway/config/README.md';
const TESTS_PAGE = 'test/README.md';
const README_LINES_MAX = 80;
const READERS_WORDS_MAX = 900;
const ALL_WORDS_MAX = 25_000;
const PAGE_LINES_MAX = 100;
const LISTED = /<!-- rooms -->\n[\s\S]*<!-- \/rooms -->/;
/** Tables whose lines do not count towards the maximum length of a page. */
const TABLE = /<!-- (variables|doors) -->[\s\S]*<!-- \/\1 -->/;

const DOCS = /^docs\/.+\.md$/;

/** Folders that must have a page, in addition to every folder in subgraphs/ and gateway/. */
const namedRooms = [
  'schema',
  'subgraphs',
  'subgraphs/receipt/claim',
  'subgraphs/receipt/log',
  'subgraphs/receipt/issuer',
  'subgraphs/receipt/verify',
  'subgraphs/receipt/inference',
  'gateway',
  'rest-compat',
  'rest-compat/client',
];

const rooms = new WeakMap<Tree, readonly RoomPage[]>();
function roomsOf(tree: Tree): readonly RoomPage[] {
  const found = rooms.get(tree) ?? findRooms(tree);
  rooms.set(tree, found);
  return found;
}

function pagesOf(tree: Tree): readonly string[] {
  const others = [TESTS_PAGE, 'test/bench/README.md', CHANGELOG, '.github/CONTRIBUTING.md', SECURITY];
  return [...readersPages(tree), ...roomsOf(tree).map(({ folder }) => `${folder}/${README}`), ...others];
}

/** Pages for readers who do not know the code: the root page, and one for each kind of reader. */
function readersPages(tree: Tree): readonly string[] {
  return [README, ...tree.files.filter(file => DOCS.test(file))];
}

/** Dead links of a page. Links are relative to its folder; paths of files in backticks are relative to it or to the root. */
function deadEnds(page: string, tree: Tree): string[] {
  const text = tree.text(page).replace(/^```[\s\S]*?^```/gm, '');
  const links = [...text.matchAll(/\]\((?![a-z]+:|#)([^)#]+)/g)].map(([, target = '']) => target);
  const paths = [...text.matchAll(/`((?:[\w.-]+\/)+[\w.-]+\.(?:ts|md|sol|graphql))`/g)].map(([, path = '']) => path);
  const isHere = (target: string) => {
    const path = join(dirname(page), target).replace(/\/$/, '');
    return path === '.' || tree.has(path);
  };
  return [...links.filter(target => !isHere(target)), ...paths.filter(path => !isHere(path) && !tree.has(path))];
}

function lineCount(text: string): number {
  return text.trimEnd().split('\n').length;
}

/** Counts words as `wc -w` does, including code and the bars of tables. */
function wordCount(text: string): number {
  return text.split(/\s+/).filter(Boolean).length;
}

/** Names of the variables that the page of settings lists. */
function variablesTold(tree: Tree): string[] {
  return [...tree.text(CONFIG_PAGE).matchAll(/^- `([A-Z_]+)` \(/gm)].map(([, name = '']) => name);
}

/** The chapter of README.md on what is specified but not implemented. @throws if it does not exist */
function notYet(tree: Tree): string {
  const chapter = tree.text(README).split('## Not yet here\n')[1];
  if (chapter === undefined) throw new Error(`${README} has no chapter "Not yet here"`);
  return chapter.split('\n## ')[0] ?? '';
}

const BOOK = '/v1/agents/{agent_id}/book';
/** Each path in the specification. */
const specified: readonly string[] = [
  '/v1/chat/completions',
  '/v1/responses',
  '/a2a-message',
  '/task-request',
  '/task-quote',
  '/v1/models',
  '/v1/images/generations',
  '/v1/audio/transcriptions',
  '/task-status',
  '/prove-result',
  '/health',
  '/stats',
  '/openapi.json',
  '/receipt/{task_id}',
  '/receipt/{id}/preimage',
  '/refusal/{refusal_id}',
  '/.well-known/jwks.json',
  '/.well-known/issuer-history.json',
  '/.well-known/receipt-policy-history.json',
  '/.well-known/revocations',
  '/.well-known/x402',
  '/.well-known/agent-card.json',
  '/.well-known/x402list.txt',
  '/v1/agents/register',
  '/v1/agents/{agent_id}/record',
  BOOK,
  `${BOOK}/inflow`,
  `${BOOK}/inflow/correct`,
  `${BOOK}/ingest`,
  `${BOOK}/lineage/{task_id}`,
  `${BOOK}/policy`,
  `${BOOK}/export`,
  `${BOOK}/gaps`,
  `${BOOK}/assign`,
  `${BOOK}/dispute`,
  `${BOOK}/escrow`,
  `${BOOK}/a2a-escrow`,
  `${BOOK}/webhook`,
  `${BOOK}/rotate`,
  '/v1/book/slice',
  '/v1/sessions/{delegation_hash}',
  '/v1/board/posts',
  '/v1/board/jobs',
  '/v1/router/books',
  '/v1/router/broadcast',
];
const served: ReadonlySet<string> = new Set<string>(everyDoor.map(({ path }) => path));

/**
 * The name by which README.md lists a missing path: without the common prefix of books and without parameters, or the first two segments of
 * an area.
 */
function nameOf(path: string): string {
  const area = path.match(/^\/v1\/(sessions|board|router)/);
  if (area) return `\`${area[0]}\``;
  return `\`${path.replace(`${BOOK}/`, 'book/').replace('/{task_id}', '')}\``;
}

export const paperRules: readonly Rule[] = [
  rule({
    name: 'each room has a page',
    remedy: `write a ${README} in the folder: what the room promises, and why.`,
    least: 20,
    subjects: tree => [...namedRooms, ...tree.foldersIn('subgraphs'), ...tree.foldersIn('gateway')],
    offences: (folder, tree) => (tree.has(`${folder}/${README}`) ? [] : [folder]),
  }),
  rule({
    name: 'each page of a room begins with what the room is for',
    remedy: 'write a sentence below the title.',
    least: 20,
    subjects: tree => roomsOf(tree).flatMap(({ folder, rooms }) => rooms.map(room => ({ folder, ...room }))),
    offences: ({ folder, path, sentence }) => (sentence === null ? [`${folder}/${path}`] : []),
  }),
  rule({
    name: 'each page of a room that holds others lists them',
    remedy: 'write the lines `<!-- rooms -->` and `<!-- /rooms -->` where the list belongs, and run `npm run papers`.',
    least: 5,
    subjects: tree =>
      roomsOf(tree)
        .filter(({ rooms }) => rooms.length > 0)
        .map(({ folder }) => `${folder}/${README}`),
    offences: (page, tree) => (LISTED.test(tree.text(page)) ? [] : [page]),
  }),
  rule({
    name: 'each file says in a sentence what it is for',
    remedy: 'write a comment at its beginning or above what it exports.',
    least: 1_000,
    subjects: tree => roomsOf(tree).flatMap(({ folder, files }) => files.map(file => ({ folder, ...file }))),
    offences: ({ folder, path, sentence }) => (sentence === null ? [`${folder}/${path}`] : []),
  }),
  rule({
    name: 'what is derived on a page is what `npm run papers` writes',
    remedy: 'run `npm run papers`.',
    least: 20,
    subjects: tree => [...pagesAsDerived(tree)],
    offences: ([page, text], tree) => (tree.text(page) === text ? [] : [page]),
  }),
  rule({
    name: `the root page has at most ${README_LINES_MAX} lines, each other at most ${PAGE_LINES_MAX} beside its table of variables or doors`,
    remedy: 'say less, or say it in a room below.',
    least: 20,
    subjects: tree => pagesOf(tree).filter(page => page !== CHANGELOG && !DOCS.test(page)),
    offences(page, tree) {
      const lines = lineCount(tree.text(page).replace(TABLE, ''));
      return lines > (page === README ? README_LINES_MAX : PAGE_LINES_MAX) ? [`${page}: ${lines}`] : [];
    },
  }),
  rule({
    name: `${README} and each page of docs/ have at most ${READERS_WORDS_MAX} words`,
    remedy: 'say less, or link to the page of a folder.',
    least: 5,
    subjects: readersPages,
    offences(page, tree) {
      const words = wordCount(tree.text(page));
      return words > READERS_WORDS_MAX ? [`${page}: ${words}`] : [];
    },
  }),
  rule({
    name: `all pages called ${README} have at most ${ALL_WORDS_MAX} words together`,
    remedy: 'say what a folder guarantees and why; what code or schema say is not said again.',
    least: 20,
    subjects(tree) {
      const sized = tree.files.flatMap(page => {
        return basename(page) === README ? [{ page, words: wordCount(tree.text(page)) }] : [];
      });
      const all = sized.reduce((sum, { words }) => sum + words, 0);
      return sized.map(it => ({ ...it, all }));
    },
    offences: ({ page, words, all }) => (all > ALL_WORDS_MAX ? [`${page}: ${words} of ${all}`] : []),
  }),
  rule({
    name: 'no link on a page, and no path of a file, leads nowhere',
    remedy: 'name what is there.',
    least: 20,
    subjects: pagesOf,
    offences: (page, tree) => deadEnds(page, tree).map(target => `${page}: ${target}`),
  }),
  rule({
    name: 'each variable of the environment has a row, and no other',
    remedy: 'run `npm run papers`; it writes between the lines `<!-- variables -->` and `<!-- /variables -->`.',
    least: 20,
    subjects: tree => [...new Set([...Object.keys(variables.shape), ...variablesTold(tree)])],
    offences: (name, tree) =>
      name in variables.shape && variablesTold(tree).includes(name) ? [] : [`${CONFIG_PAGE}: ${name}`],
  }),
  rule({
    name: 'each folder of tests is told of',
    remedy: `add a row to ${TESTS_PAGE}.`,
    least: 10,
    subjects: tree => tree.foldersIn('test'),
    offences: (folder, tree) => {
      const name = `\`${folder.slice('test/'.length)}/\``;
      return tree.text(TESTS_PAGE).includes(name) ? [] : [`${TESTS_PAGE}: ${name}`];
    },
  }),
  rule({
    name: 'every promise of SECURITY.md names the tests that show it',
    remedy: 'write a test, and name its file in the row.',
    least: 11,
    subjects: tree =>
      tree
        .text(SECURITY)
        .split('\n')
        .filter(line => line.startsWith('| ') && !line.startsWith('| promise')),
    offences(promise, tree) {
      const shown = [...promise.matchAll(/`(test\/[^`]+)`/g)].map(([, file = '']) => file);
      if (shown.length === 0) return [`${SECURITY}: ${promise}`];
      return shown.filter(file => !tree.has(file.replace(/\/$/, ''))).map(file => `${SECURITY}: ${file}`);
    },
  }),
  rule({
    name: `what is specified is served, or ${README} says that it is not, and never both`,
    remedy: `serve it, or name it under "Not yet here"; what is served is not named there.`,
    least: specified.length,
    subjects: () => specified,
    offences(path, tree) {
      if (notYet(tree).includes(nameOf(path)) !== served.has(path)) return [];
      return [`${README}: ${path} is ${served.has(path) ? 'served and named as missing' : 'neither served nor named'}`];
    },
  }),
  rule({
    name: `none of the policies is missing, and ${README} says of none that it is`,
    remedy: 'take its name out of "Not yet here".',
    least: 8,
    subjects: () => Object.keys(policyKinds),
    offences: (name, tree) => (notYet(tree).includes(`\`${name}\``) ? [`${README}: ${name}`] : []),
  }),
];
