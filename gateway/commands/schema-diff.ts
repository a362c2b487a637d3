import { CHANGELOG, compareWithRelease } from './schema-diff/compare.ts';

/*
 * `npm run schema-diff`: compares the graph with that of the last tag. Breaking changes must be named in the changelog. Node runs
 * this file from the sources, because a build would take longer than the rest of `npm run check`.
 */

const comparison = await compareWithRelease('.');
switch (comparison.kind) {
  case 'no_release':
    console.log(`The graph was not compared: ${comparison.why}.`);
    break;
  case 'noted':
    console.log(`Breaking changes since ${comparison.tag}: ${comparison.breaking}, all named in ${CHANGELOG}.`);
    break;
  case 'unnoted':
    for (const { coordinate, message } of comparison.missing) console.error(`${coordinate}: ${message}`);
    console.error(
      `These changes break clients of ${comparison.tag}. Name each coordinate (the text before the colon) in backticks in a new line of ${CHANGELOG}.`,
    );
    process.exitCode = 1;
}
