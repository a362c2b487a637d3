import type { AtomicAmount } from '../../../schema/amount.ts';
import { policyLimits } from '../../../schema/limits.ts';
import {
  type BookPolicy,
  budgetRule,
  type PolicyCode,
  type PolicyKind,
  type PolicyType,
  policyKinds,
} from '../../../schema/policy-kinds.ts';
import type { Objection, PolicyCall, RefusalCode, Spending } from '../../../schema/policy-rule.ts';

/** Spending and terms that decide whether a charge is accepted, under the head's lock. */
export interface Ceilings extends Spending {
  readonly policy: BookPolicy;
  /** Budget Y; null is unlimited. */
  readonly budget_atomic: AtomicAmount | null;
}

export interface Blocked extends Objection {
  readonly kind: 'blocked';
  readonly refusal_code: RefusalCode;
  readonly policy_code: PolicyCode;
  /** Set only if a cap of a clock period refused. */
  readonly policy_key: PolicyType | null;
}

export type Evaluation = { readonly kind: 'admitted' } | Blocked;

/** A rule and its value. */
interface SetRule {
  readonly policy_type: PolicyType | null;
  readonly rule: NonNullable<PolicyKind['rule']> | typeof budgetRule;
  set(ceilings: Ceilings): unknown;
}

const kinds = Object.entries<PolicyKind>(policyKinds).flatMap(([name, { rule }]): SetRule[] => {
  const policy_type = name as PolicyType;
  return rule === null ? [] : [{ policy_type, rule, set: ({ policy }) => policy[policy_type] }];
});
const budget: SetRule = { policy_type: null, rule: budgetRule, set: ({ budget_atomic }) => budget_atomic ?? undefined };
const inOrder = [...kinds, budget].sort((one, other) => one.rule.precedence - other.rule.precedence);

/**
 * Judges a call: it passes if collected amounts, reservations and the charge stay within every cap, and no other policy refuses it.
 * All reservations count for the current hour and day, so that one collected after the hour cannot exceed the cap of either.
 */
export function evaluate(ceilings: Ceilings, call: PolicyCall): Evaluation {
  for (const set_rule of inOrder) {
    const blocked = blockedBy(set_rule, ceilings, call);
    if (blocked) return blocked;
  }
  return { kind: 'admitted' };
}

/**
 * Policies of `shadow` that would refuse a passing call, each judged alone beside the enforced ones, in the order of precedence.
 * Calls that they would have refused count as spent.
 */
export function wouldRefuse(ceilings: Ceilings, shadow: BookPolicy, call: PolicyCall): readonly Blocked[] {
  // True for nearly every book.
  if (Object.keys(shadow).length === 0) return [];
  const { approval_ttl = ceilings.policy.approval_ttl } = shadow;
  const policy = { ...shadow, ...(approval_ttl === undefined ? {} : { approval_ttl }) };
  return inOrder.flatMap(set_rule => blockedBy(set_rule, { ...ceilings, policy, budget_atomic: null }, call) ?? []);
}

function blockedBy({ policy_type, rule, set }: SetRule, ceilings: Ceilings, call: PolicyCall): Blocked | null {
  const value = set(ceilings);
  if (value === undefined) return null;
  const { approval_ttl: approval_ttl_seconds = policyLimits.approval_ttl_seconds } = ceilings.policy;
  const objection = rule.objection(value as never, { ...ceilings, approval_ttl_seconds }, call);
  if (objection === null) return null;
  const { refusal_code, policy_code } = rule;
  const policy_key = objection.period_start === null ? null : policy_type;
  return { kind: 'blocked', refusal_code, policy_code: policy_code as PolicyCode, policy_key, ...objection };
}
