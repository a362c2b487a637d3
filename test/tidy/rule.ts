import type { Tree } from './tree.ts';

/** A rule for all files that can be checked by reading them. */
export interface Rule {
  /** The rule as a sentence that is true if it holds. */
  readonly name: string;
  /** What to do if the rule is broken. */
  readonly remedy: string;
  /** Checks every subject of the rule. Returns their number, and a text for each offence. */
  find(tree: Tree): { readonly looked_at: number; readonly offences: readonly string[] };
  /** Least number of subjects. Without it a rule whose pattern no longer matches anything would always hold. */
  readonly least: number;
}

/** A rule that checks each of its `subjects`: files, imports or names. An offence names the file. */
export function rule<Subject>(stated: {
  readonly name: string;
  readonly remedy: string;
  readonly least?: number;
  subjects(tree: Tree): readonly Subject[];
  offences(subject: Subject, tree: Tree): readonly string[];
}): Rule {
  const { name, remedy, least = 1 } = stated;
  return {
    name,
    remedy,
    least,
    find(tree) {
      const subjects = stated.subjects(tree);
      return { looked_at: subjects.length, offences: subjects.flatMap(subject => stated.offences(subject, tree)) };
    },
  };
}

/** All offences as text for a person. Empty if all rules hold. */
export function report(rules: readonly Rule[], tree: Tree): string {
  return rules
    .map(rule => ({ rule, offences: offencesAgainst(rule, tree) }))
    .filter(({ offences }) => offences.length > 0)
    .map(({ rule: { name, remedy }, offences }) =>
      [`Broken: ${name}.`, ...offences.map(offence => `  ${offence}`), `  What to do: ${remedy}`].join('\n'),
    )
    .join('\n\n');
}

function offencesAgainst(rule: Rule, tree: Tree): readonly string[] {
  try {
    const { looked_at, offences } = rule.find(tree);
    if (looked_at >= rule.least) return offences;
    return [...offences, `the rule finds ${looked_at} to look at, and there should be ${rule.least} or more`];
  } catch (error) {
    return [`the rule itself failed: ${error instanceof Error ? error.message : error}`];
  }
}
