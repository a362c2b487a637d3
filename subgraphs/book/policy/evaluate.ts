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

/** Spending and terms that decide whether a charge is accepted, read under the lock of the head. */
export interface Ceilings extends Spending {
  readonly policy: BookPolicy;
  /** Budget (Y in the specification). Null means unlimited. */
  readonly budget_atomic: AtomicAmount | null;
}

export interface Blocked extends Objection {
  readonly kind: 'blocked';
  readonly refusal_code: RefusalCode;
  readonly policy_code: PolicyCode;
  /** Type of the cap that refused, if it is a cap of a clock period. Null for any other rule. */
  readonly policy_key: PolicyType | null;
}

export type Evaluation = { readonly kind: 'admitted' } | Blocked;

/** A rule, and a function that reads its value from the terms of a book. An undefined value means that the rule is not set. */
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
 * Judges a call. It passes if the sum of collected amounts, reservations and the charge stays within every cap, and no other policy
 * refuses it. All reservations count for the current hour and day, so that a reservation that is collected in the next hour cannot
 * exceed the cap of either hour.
 */
export function evaluate(ceilings: Ceilings, call: PolicyCall): Evaluation {
  for (const set_rule of inOrder) {
    const blocked = blockedBy(set_rule, ceilings, call);
    if (blocked) return blocked;
  }
  return { kind: 'admitted' };
}

/**
 * Returns the policies of `shadow` that would refuse a passing call, in the order of precedence. Each is judged alone, by the actual
 * spending, which includes calls that policies in shadow mode would have refused.
 */
export function wouldRefuse(ceilings: Ceilings, shadow: BookPolicy, call: PolicyCall): readonly Blocked[] {
  // Nearly every book has no policy in shadow mode.
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
