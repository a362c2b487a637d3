import { importRules } from './imports.ts';
import { paperRules } from './papers.ts';
import { placeRules } from './places.ts';
import type { Rule } from './rule.ts';

/** All that `npm run tidy` asks of the checkout. */
export const rules: readonly Rule[] = [...importRules, ...placeRules, ...paperRules];
