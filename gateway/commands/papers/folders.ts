import { basename } from 'node:path';
import { dirname } from 'node:path/posix';

/** Top folders of the service. */
export const serviceFolders = ['schema', 'subgraphs', 'gateway', 'rest-compat'] as const;
const README = 'README.md';

/** Paths of the files of a checkout, from its root and with forward slashes, and the text of each file. */
export interface Checkout {
  readonly files: readonly string[];
  text(file: string): string;
}

/** A folder with a README, with its files and those of folders below it that have no README. */
export interface RoomPage {
  /** Path from the root, without a trailing slash. */
  readonly folder: string;
  /** Source files by their path from `folder`, each with the sentence about its purpose; null if it has none. */
  readonly files: readonly { readonly path: string; readonly sentence: string | null }[];
  /** READMEs of folders inside this one, by their path from `folder`, each with its first sentence. */
  readonly rooms: readonly { readonly path: string; readonly sentence: string | null }[];
}

/** Whether the path is of a TypeScript file, or of one of the JavaScript files that start programs. */
export const isSource = (path: string) => path.endsWith('.ts') || /^gateway\/[^/]+\.js$/.test(path);

/** All folders with a README.md, in alphabetical order. */
export function findRooms(checkout: Checkout): readonly RoomPage[] {
  const paths = checkout.files.filter(path => serviceFolders.some(top => path.startsWith(`${top}/`))).sort();
  const folders = paths.filter(path => path.endsWith(`/${README}`)).map(dirname);
  const known = new Set(folders);
  const sources = Map.groupBy(paths.filter(isSource), path => roomOf(path, known));
  const inner = Map.groupBy(folders, folder => roomOf(folder, known));
  return folders.map(folder => {
    const described = (list: readonly string[], sentenceOf: typeof firstSentence) =>
      list.map(path => ({ path: path.slice(folder.length + 1), sentence: sentenceOf(path, checkout.text(path)) }));
    const pages = (inner.get(folder) ?? []).map(other => `${other}/${README}`);
    return { folder, files: described(sources.get(folder) ?? [], firstSentence), rooms: described(pages, firstOfPage) };
  });
}

/** The nearest folder above the path that has a README. */
function roomOf(path: string, rooms: ReadonlySet<string>): string | null {
  const folder = dirname(path);
  if (folder === '.') return null;
  return rooms.has(folder) ? folder : roomOf(folder, rooms);
}

/** The first sentence below the title of a README; null if it has none. */
function firstOfPage(_: string, page: string): string | null {
  const [, text = ''] = page.match(/^# .*\n+([^#<|\n][\s\S]*?)(?:\n\n|$)/) ?? [];
  return text.replace(/\s+/g, ' ').match(/^.*?[.!?](?=\s|$)/)?.[0] ?? null;
}

/** The list of folders inside this one. Files are not listed, because each begins with a comment about its purpose. */
export function roomList({ rooms }: RoomPage): string {
  return rooms
    .map(({ path, sentence }) => `- [${path.slice(0, -README.length)}](${path}): ${sentence ?? '?'}`)
    .join('\n');
}

/** Replaces the text between the lines `<!-- name -->` and `<!-- /name -->`. A page without these lines stays unchanged. */
export function betweenMarks(page: string, name: string, text: string): string {
  const place = new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(<!-- /${name} -->)`);
  return page.replace(place, (_, open, close) => `${open}${text}\n${close}`);
}

interface FileComment {
  readonly text: string;
  /** The first line below the comment that is not a decorator. */
  readonly below: string;
}

const COMMENT = /^\/\*\*?(?!\/)([\s\S]*?)\*\/[ \t]*\n/gm;
/** `description` in the decorator of a class, as shown in the graph's schema. */
const DESCRIBED = /^@\w+\((?:(?!^@|^export)[\s\S])*?description:\s*'((?:[^'\\]|\\.)*)'[\s\S]*?^(export class .*)/gm;
const DESCRIPTION = /description:\s*'((?:[^'\\]|\\.)*)'/;
const EXPORTED = /^export (?:abstract )?(?:async )?(type|interface|class|function\*?|const) (\w+)/;
const SENTENCE = /^.*?[.!?](?=\s|$)/;

/** Sentences for files whose name shows their purpose. */
const byName: readonly (readonly [RegExp, string])[] = [
  [
    /(^|\/)index\.ts$/,
    'What this subgraph brings to the graph: its schema, its tables, its resolvers, and what it sells.',
  ],
  [/(^|[/.])migration\.ts$/, 'Makes these tables, or brings them up to date.'],
  [/(^|[/-])doors\.ts$/, 'Rows of the table of doors.'],
  [/(^|[/-])answers\.ts$/, 'What these doors answer, as it looks on the wire.'],
];

/**
 * The sentence about a file's purpose; null if there is none. It is the first sentence of the file's comment (above an import, or
 * followed by an empty line), else of the doc comment of the export that has the file's name, else of its first exported function,
 * class or type, else of a graph description. For a program, which exports nothing, it is that of its first comment.
 */
function firstSentence(path: string, source: string): string | null {
  const comments = commentsOf(source);
  const found =
    ownComment(comments) ?? commentOfNamesake(path, comments) ?? commentOfExport(comments) ?? fileComment(path, source);
  const text = (found ?? program(source, comments))?.text.replace(/\s+/g, ' ').trim();
  if (!text) return byName.find(([name]) => name.test(path))?.[1] ?? null;
  return text.match(SENTENCE)?.[0] ?? text;
}

function commentsOf(source: string): readonly FileComment[] {
  return [...source.matchAll(COMMENT)]
    .map(({ 0: all, 1: text = '', index }) => {
      const after = source.slice(index + all.length);
      const next = after.split('\n', 1)[0] ?? '';
      const below = next.startsWith('@') ? (after.match(/^export .*/m)?.[0] ?? '') : next;
      return { text: text.replace(/^\s*\* ?/gm, ' '), below };
    })
    .filter(({ text }) => !text.trim().startsWith('@'));
}

function ownComment(comments: readonly FileComment[]): FileComment | undefined {
  return comments.find(({ below }) => below.trim() === '' || below.startsWith('import '));
}

function commentOfNamesake(path: string, texts: readonly FileComment[]): FileComment | undefined {
  const name = letters(basename(path).replace(/(\.\w+)+$/, ''));
  return texts.find(({ below }) => letters(below.match(EXPORTED)?.[2] ?? '') === name);
}

function commentOfExport(comments: readonly FileComment[]): FileComment | undefined {
  const all = comments.filter(({ below }) => EXPORTED.test(below));
  return all.find(({ below }) => !/^(type|interface)$/.test(below.match(EXPORTED)?.[1] ?? '')) ?? all[0];
}

function fileComment(path: string, source: string): FileComment | undefined {
  const classes = [...source.matchAll(DESCRIBED)].map(([, text = '', below = '']) => ({ text, below }));
  const [, first] = source.match(DESCRIPTION) ?? [];
  return commentOfNamesake(path, classes) ?? classes[0] ?? (first ? { text: first, below: '' } : undefined);
}

function program(source: string, [first]: readonly FileComment[]): FileComment | undefined {
  return /^export /m.test(source) ? undefined : first;
}

function letters(name: string): string {
  return name.replace(/[^a-z0-9]/gi, '').toLowerCase();
}
