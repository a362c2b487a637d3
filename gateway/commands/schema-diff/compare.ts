import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Change, CriticalityLevel, diff } from '@graphql-inspector/core';
import { buildSchema, type GraphQLSchema } from 'graphql';
import { paidFields, publicSchema } from '../../graph/supergraph.ts';
import { sdlOf } from '../../http/sdl.ts';

/** Result of comparing the graph with that of the last tag. */
type Comparison =
  | { readonly kind: 'no_release'; readonly why: string }
  | { readonly kind: 'noted'; readonly tag: string; readonly breaking: number }
  | { readonly kind: 'unnoted'; readonly tag: string; readonly missing: readonly BreakingChange[] };

/** Compares the graph of the checkout at `root` with that of the last tag, and looks for breaking changes in the changelog. */
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
/** Maximum size of git's output. A supergraph has 0.1 MB. */
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

const SUPERGRAPH = 'schema/supergraph.graphql';
export const CHANGELOG = '.github/CHANGELOG.md';

/** The last release, or why it is unknown, as in a clone without tags. */
type LastRelease =
  | { readonly kind: 'found'; readonly tag: string; readonly supergraph: string; readonly changelog: string }
  | { readonly kind: 'none'; readonly why: string };

/** Finds the newest tag from which the checkout at `root` descends, and reads its files. */
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
  /** Name of the changed type, field, argument or value in the changelog, as a path such as `Book.rows.first`. */
  readonly coordinate: string;
  /** Description of the change, in one sentence. */
  readonly message: string;
}

/** Compares the schemas that two supergraphs show to clients, including `@paid`. */
export async function breakingChanges(before: string, after: string): Promise<BreakingChange[]> {
  const changes = await diff(shownBy(before), shownBy(after));
  return changes.filter(isBreaking).map(({ path, type, message }) => ({
    coordinate: (path ?? String(type)).replace(PAID, ''),
    message,
  }));
}

/**
 * Matches the path of a changed price. A changed price breaks callers although no type changes, and graphql-inspector rates it as
 * dangerous at most.
 */
const PAID = /\.@paid\b.*$/;

function isBreaking({ criticality, path }: Change): boolean {
  return criticality.level === CriticalityLevel.Breaking || PAID.test(path ?? '');
}

function shownBy(supergraph: string): GraphQLSchema {
  const schema = publicSchema(supergraph);
  return buildSchema(sdlOf({ schema, paid: paidFields(schema) }));
}

/** Breaking changes that no new line of the changelog names in backticks. */
export function changesWithoutNote(
  changes: readonly BreakingChange[],
  changelog: { readonly before: string; readonly after: string },
): BreakingChange[] {
  const old = new Set(changelog.before.split('\n'));
  const added = changelog.after.split('\n').filter(line => !old.has(line));
  // The whole coordinate must match, so that `Book.rowsByDay` does not count as a mention of `Book.rows`.
  const named = new Set(added.flatMap(line => [...line.matchAll(/`([^`]+)`/g)].map(([, code]) => code)));
  return changes.filter(({ coordinate }) => !named.has(coordinate));
}
