import type { Tree } from './tree.ts';

/** What holds of every file, and is found by reading files alone. */
export interface Rule {
  /** What holds, as a sentence. */
  readonly name: string;
  /** What to do where it does not. */
  readonly remedy: string;
  /** Looks at everything that it is about. */
  find(tree: Tree): { readonly looked_at: number; readonly offences: readonly string[] };
  /** How much it finds to look at, at the least: a rule whose pattern no longer fits anything would hold of itself. */
  readonly least: number;
}

/** A rule about each of its `subjects`: files, imports or names. An offence names the file. */
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

/** What breaks each rule, as text for people; empty where all of them hold. */
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
