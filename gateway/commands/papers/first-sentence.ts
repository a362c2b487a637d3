import { basename } from 'node:path';

interface Told {
  readonly text: string;
  /** What the text stands above: the first line that is no decorator. */
  readonly below: string;
}

const COMMENT = /^\/\*\*?(?!\/)([\s\S]*?)\*\/[ \t]*\n/gm;
/** `description` in the decorator of a class, which the graph's schema shows. */
const DESCRIBED = /^@\w+\((?:(?!^@|^export)[\s\S])*?description:\s*'((?:[^'\\]|\\.)*)'[\s\S]*?^(export class .*)/gm;
const DESCRIPTION = /description:\s*'((?:[^'\\]|\\.)*)'/;
const EXPORTED = /^export (?:abstract )?(?:async )?(type|interface|class|function\*?|const) (\w+)/;
const SENTENCE = /^.*?[.!?](?=\s|$)/;

/** Files whose names say by themselves what they are for, wherever they lie. */
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
 * What a file is for, in one sentence. It is the first sentence of the file's own comment (one that stands above an import
 * or by itself), or else of the doc comment on the export that is called as the file is, or else of that on its first
 * exported verb or class, or type; what has none of these may have a description on the graph. A program, which exports
 * nothing, is told by its first comment. Null where there is none.
 */
export function firstSentence(path: string, source: string): string | null {
  const comments = commentsOf(source);
  const told = ownComment(comments) ?? named(path, comments) ?? exported(comments) ?? described(path, source);
  const text = (told ?? program(source, comments))?.text.replace(/\s+/g, ' ').trim();
  if (!text) return byName.find(([name]) => name.test(path))?.[1] ?? null;
  return text.match(SENTENCE)?.[0] ?? text;
}

function commentsOf(source: string): readonly Told[] {
  return [...source.matchAll(COMMENT)]
    .map(({ 0: all, 1: text = '', index }) => {
      const after = source.slice(index + all.length);
      const next = after.split('\n', 1)[0] ?? '';
      const below = next.startsWith('@') ? (after.match(/^export .*/m)?.[0] ?? '') : next;
      return { text: text.replace(/^\s*\* ?/gm, ' '), below };
    })
    .filter(({ text }) => !text.trim().startsWith('@'));
}

function ownComment(comments: readonly Told[]): Told | undefined {
  return comments.find(({ below }) => below.trim() === '' || below.startsWith('import '));
}

function named(path: string, texts: readonly Told[]): Told | undefined {
  const name = letters(basename(path).replace(/(\.\w+)+$/, ''));
  return texts.find(({ below }) => letters(below.match(EXPORTED)?.[2] ?? '') === name);
}

function exported(comments: readonly Told[]): Told | undefined {
  const all = comments.filter(({ below }) => EXPORTED.test(below));
  return all.find(({ below }) => !/^(type|interface)$/.test(below.match(EXPORTED)?.[1] ?? '')) ?? all[0];
}

function described(path: string, source: string): Told | undefined {
  const classes = [...source.matchAll(DESCRIBED)].map(([, text = '', below = '']) => ({ text, below }));
  const [, first] = source.match(DESCRIPTION) ?? [];
  return named(path, classes) ?? classes[0] ?? (first ? { text: first, below: '' } : undefined);
}

function program(source: string, [first]: readonly Told[]): Told | undefined {
  return /^export /m.test(source) ? undefined : first;
}

function letters(name: string): string {
  return name.replace(/[^a-z0-9]/gi, '').toLowerCase();
}
