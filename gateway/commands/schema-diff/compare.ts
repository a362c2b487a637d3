import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BreakingChange, breakingChanges, unnoted } from './breaking-changes.ts';
import { CHANGELOG, lastRelease, SUPERGRAPH } from './last-release.ts';

/** What has become of the graph since the last tag. */
export type Comparison =
  | { readonly kind: 'no_release'; readonly why: string }
  | { readonly kind: 'noted'; readonly tag: string; readonly breaking: number }
  | { readonly kind: 'unnoted'; readonly tag: string; readonly missing: readonly BreakingChange[] };

/** Compares the graph of the checkout at `root` with that of the last tag, and what breaks clients with the changelog. */
export async function compareWithRelease(root: string): Promise<Comparison> {
  const before = await lastRelease(root);
  if (before.kind === 'none') return { kind: 'no_release', why: before.why };
  const { tag } = before;
  const changes = await breakingChanges(before.supergraph, await readFile(join(root, SUPERGRAPH), 'utf8'));
  const changelog = { before: before.changelog, after: await readFile(join(root, CHANGELOG), 'utf8') };
  const missing = unnoted(changes, changelog);
  return missing.length === 0 ? { kind: 'noted', tag, breaking: changes.length } : { kind: 'unnoted', tag, missing };
}
