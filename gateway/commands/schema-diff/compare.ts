import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Change, CriticalityLevel, diff } from '@graphql-inspector/core';
import { buildSchema, type GraphQLSchema } from 'graphql';
import { paidFields, publicSchema } from '../../graph/supergraph.ts';
import { sdlOf } from '../../http/sdl.ts';

/** The changes of the graph since the last tag. */
type Comparison =
  | { readonly kind: 'no_release'; readonly why: string }
  | { readonly kind: 'noted'; readonly tag: string; readonly breaking: number }
  | { readonly kind: 'unnoted'; readonly tag: string; readonly missing: readonly BreakingChange[] };

/** Compares the graph of the checkout at `root` with that of the last tag, and breaking changes with the changelog. */
export async function compareWithRelease(root: string): Promise<Comparison> {
  const before = await lastRelease(root);
  if (before.kind === 'none') return { kind: 'no_release', why: before.why };
  const { tag } = before;
  const changes = await breakingChanges(before.supergraph, await readFile(join(root, SUPERGRAPH), 'utf8'));
  const changelog = { before: before.changelog, after: await readFile(join(root, CHANGELOG), 'utf8') };
  const missing = changesWithoutNote(changes, changelog);
  return missing.length === 0 ? { kind: 'noted', tag, breaking: changes.length } : { kind: 'unnoted', tag, missing };
}

const run = promisify(execFile);
/** A supergraph has 0.1 MB. */
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

const SUPERGRAPH = 'schema/supergraph.graphql';
export const CHANGELOG = '.github/CHANGELOG.md';

/** The last release; or why it is unknown, as in a clone without tags. */
type LastRelease =
  | { readonly kind: 'found'; readonly tag: string; readonly supergraph: string; readonly changelog: string }
  | { readonly kind: 'none'; readonly why: string };

/** The newest tag from which the checkout at `root` descends, and its files. */
async function lastRelease(root: string): Promise<LastRelease> {
  const git = (...words: string[]) =>
    run('git', words, { cwd: root, maxBuffer: OUTPUT_BYTES_MAX }).then(
      ({ stdout }) => stdout,
      () => null,
    );
  const tag = (await git('describe', '--tags', '--abbrev=0'))?.trim();
  if (!tag) return { kind: 'none', why: 'git has no tag here' };
  const supergraph = await git('show', `${tag}:./${SUPERGRAPH}`);
  if (supergraph === null) return { kind: 'none', why: `${tag} has no ${SUPERGRAPH}` };
  return { kind: 'found', tag, supergraph, changelog: (await git('show', `${tag}:./${CHANGELOG}`)) ?? '' };
}

/** A change that breaks clients of the former graph. */
interface BreakingChange {
  /** The name for the changelog: a type, field, argument or value as a path, `Book.rows.first`. */
  readonly coordinate: string;
  /** The change in a sentence. */
  readonly message: string;
}

/** Compares the schemas that clients see of two supergraphs, `@paid` included. */
export async function breakingChanges(before: string, after: string): Promise<BreakingChange[]> {
  const changes = await diff(shownBy(before), shownBy(after));
  return changes.filter(isBreaking).map(({ path, type, message }) => ({
    coordinate: (path ?? String(type)).replace(PAID, ''),
    message,
  }));
}

/** A changed price breaks callers although no type changes: graphql-inspector rates it as dangerous at most. */
const PAID = /\.@paid\b.*$/;

function isBreaking({ criticality, path }: Change): boolean {
  return criticality.level === CriticalityLevel.Breaking || PAID.test(path ?? '');
}

function shownBy(supergraph: string): GraphQLSchema {
  const schema = publicSchema(supergraph);
  return buildSchema(sdlOf({ schema, paid: paidFields(schema) }));
}

/** Changes that no new line of the changelog names in backticks. */
export function changesWithoutNote(
  changes: readonly BreakingChange[],
  changelog: { readonly before: string; readonly after: string },
): BreakingChange[] {
  const old = new Set(changelog.before.split('\n'));
  const added = changelog.after.split('\n').filter(line => !old.has(line));
  // The whole coordinate must match: a mention of `Book.rowsByDay` does not count for `Book.rows`.
  const named = new Set(added.flatMap(line => [...line.matchAll(/`([^`]+)`/g)].map(([, code]) => code)));
  return changes.filter(({ coordinate }) => !named.has(coordinate));
}
