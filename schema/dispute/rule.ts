import type { DisputeClaim, ReadFact, RuleFinding } from './claim.ts';
import type { DisputeFactName } from './facts.ts';
import { judgeByFirst } from './first-rule.ts';
import { judgeByFourth } from './fourth-rule.ts';
import { type DisputeOutcome, disputeOutcome } from './reasons.ts';
import { judgeByThird } from './third-rule.ts';

/*
 * Decides disputes: a pure function of a claim, its evidence and named facts, shared by the signer and the verifier of a verdict. It reads
 * no clock. A change to its decisions requires a new version.
 */

/**
 * 2: a request may include its session (`delegation_hash`), which the hash in the receipt binds. 3: decides only by what was
 * observed, one refund per charge, and none while the payment may still bring the response. 4: decides a wrong model by the model
 * that the hub named in its response.
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
  /** Null if open. */
  readonly outcome: DisputeOutcome | null;
  /** Facts that decided it, in the order in which they were read. */
  readonly used: readonly DisputeFactName[];
}

/** @throws if the rule is unknown, see `isKnownRule` */
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
