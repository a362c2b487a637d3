import { CHANGELOG, compareWithRelease } from './schema-diff/compare.ts';

/*
 * `npm run schema-diff`: compares the graph with that of the last tag; what breaks clients has to be named in the changelog.
 * Run by Node as it is: to build every program first would take longer than the rest of `npm run check`.
 */

const comparison = await compareWithRelease('.');
switch (comparison.kind) {
  case 'no_release':
    console.log(`The graph is compared with nothing: ${comparison.why}.`);
    break;
  case 'noted':
    console.log(`Breaking changes since ${comparison.tag}: ${comparison.breaking}, all named in ${CHANGELOG}.`);
    break;
  case 'unnoted':
    for (const { coordinate, message } of comparison.missing) console.error(`${coordinate}: ${message}`);
    console.error(
      `This breaks clients of ${comparison.tag}: name what stands before each colon, in backticks, in new lines of ${CHANGELOG}.`,
    );
    process.exitCode = 1;
}
