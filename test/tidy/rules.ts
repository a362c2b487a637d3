import { importRules } from './imports.ts';
import { paperRules } from './papers.ts';
import { placeRules } from './places.ts';
import type { Rule } from './rule.ts';

/** All rules of `npm run tidy`. */
export const rules: readonly Rule[] = [...importRules, ...placeRules, ...paperRules];
