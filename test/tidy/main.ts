import { report } from './rule.ts';
import { rules } from './rules.ts';
import { checkout } from './tree.ts';

/* `npm run tidy`, a part of `npm run check`: the rules of the house that are found by reading its files alone. */

const tree = checkout();
const broken = report(rules, tree);
if (broken === '') {
  console.log(`Tidy: ${rules.length} rules hold for ${tree.files.length} files.`);
} else {
  console.error(broken);
  process.exitCode = 1;
}
