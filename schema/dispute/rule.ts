import type { DisputeClaim, ReadFact, RuleFinding } from './claim.ts';
import type { DisputeFactName } from './facts.ts';
import { judgeByFirst } from './first-rule.ts';
import { judgeByFourth } from './fourth-rule.ts';
import { type DisputeOutcome, disputeOutcome } from './reasons.ts';
import { judgeByThird } from './third-rule.ts';

/*
 * How disputes are decided: a pure function of a claim, its evidence and facts that are read by name. Whoever signs a verdict
 * and whoever runs one again call the same; it reads no clock and nothing else. A change of what it decides is a new version.
 */

/**
 * 2: a request may show the session that it was made under (`delegation_hash`), which its receipt's hash binds. 3: by what was
 * observed alone, one refund for each charge, and none while its payment may still bring the answer. 4: a wrong model by the model that
 * the hub named in its answer.
 */
export const DISPUTE_RULE_VERSION = 4;

/** Verdicts of every version are run again by the rule that decided them. */
const rules: Readonly<Record<number, (claim: DisputeClaim, look: ReadFact) => RuleFinding>> = {
  1: judgeByFirst,
  2: judgeByFirst,
  3: judgeByThird,
  4: judgeByFourth,
};

export function isKnownRule(version: unknown): boolean {
  return typeof version === 'number' && Object.hasOwn(rules, version);
}

export interface Adjudication extends RuleFinding {
  /** Null: open. */
  readonly outcome: DisputeOutcome | null;
  /** The facts that it was decided by, in the order in which they were looked at. */
  readonly used: readonly DisputeFactName[];
}

/** @throws where nobody has defined that rule: see `isKnownRule` */
export function adjudicate(claim: DisputeClaim, read: ReadFact): Adjudication {
  const rule = rules[claim.rule_version];
  if (rule === undefined) throw new Error(`there is no rule ${claim.rule_version} of disputes`);
  const used: DisputeFactName[] = [];
  const look: ReadFact = name => {
    if (!used.includes(name)) used.push(name);
    return read(name);
  };
  const finding = rule(claim, look);
  return { ...finding, outcome: disputeOutcome(finding.reason), used };
}
