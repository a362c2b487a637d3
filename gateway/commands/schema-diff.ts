import { readFile } from 'node:fs/promises';
import { breakingChanges, unnoted } from './schema-diff/breaking-changes.ts';
import { CHANGELOG, lastRelease, SUPERGRAPH } from './schema-diff/last-release.ts';

/*
 * `npm run schema-diff`: compares the graph with that of the last tag; what breaks clients has to be named in the changelog.
 * Run by Node as it is: to build every program first would take longer than the rest of `npm run check`.
 */

const before = await lastRelease('.');
if (before.kind === 'none') {
  console.log(`The graph is compared with nothing: ${before.why}.`);
} else {
  const { tag } = before;
  const changes = await breakingChanges(before.supergraph, await readFile(SUPERGRAPH, 'utf8'));
  const missing = unnoted(changes, { before: before.changelog, after: await readFile(CHANGELOG, 'utf8') });
  for (const { coordinate, message } of missing) console.error(`${coordinate}: ${message}`);
  if (missing.length > 0) {
    console.error(
      `This breaks clients of ${tag}: name what stands before each colon, in backticks, in new lines of ${CHANGELOG}.`,
    );
    process.exitCode = 1;
  } else {
    console.log(`Breaking changes since ${tag}: ${changes.length}, all named in ${CHANGELOG}.`);
  }
}
