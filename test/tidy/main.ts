import { report } from './rule.ts';
import { rules } from './rules.ts';
import { checkout } from './tree.ts';

/* `npm run tidy`, which is a part of `npm run check`: rules that can be checked by reading the files. */

const tree = checkout();
const broken = report(rules, tree);
if (broken === '') {
  console.log(`Tidy: ${rules.length} rules hold for ${tree.files.length} files.`);
} else {
  console.error(broken);
  process.exitCode = 1;
}
