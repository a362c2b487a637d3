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
import type { AskedCall, Objection, RefusalCode, Spending } from '../../../schema/policy-rule.ts';

/** All that decides whether a book takes another charge, as it stands under the head's lock. */
export interface Ceilings extends Spending {
  readonly policy: BookPolicy;
  /** Budget Y; null is unlimited. */
  readonly budget_atomic: AtomicAmount | null;
}

export interface Blocked extends Objection {
  readonly kind: 'blocked';
  readonly refusal_code: RefusalCode;
  readonly policy_code: PolicyCode;
  /** Only where a cap of a clock period is what blocked. */
  readonly policy_key: PolicyType | null;
}

export type Evaluation = { readonly kind: 'admitted' } | Blocked;

/** A rule, and what the owner of a book has set for it. */
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
 * Whether a call passes: what was collected, what is reserved and the charge itself stay at or below every ceiling, and no
 * other policy refuses it. All reservations count against the present hour and day, whenever they were made: one that is
 * collected after the hour has ended can so overfill neither hour.
 */
export function evaluate(ceilings: Ceilings, call: AskedCall): Evaluation {
  for (const set_rule of inOrder) {
    const blocked = blockedBy(set_rule, ceilings, call);
    if (blocked) return blocked;
  }
  return { kind: 'admitted' };
}

/**
 * Which policies of `shadow` would refuse a call that passes: each by itself, as if it were in force beside those that are,
 * in the order of their precedence. What they would have refused has been collected, and counts as spent.
 */
export function wouldRefuse(ceilings: Ceilings, shadow: BookPolicy, call: AskedCall): readonly Blocked[] {
  // Nearly every book: nothing is asked of it then.
  if (Object.keys(shadow).length === 0) return [];
  const { approval_ttl = ceilings.policy.approval_ttl } = shadow;
  const policy = { ...shadow, ...(approval_ttl === undefined ? {} : { approval_ttl }) };
  return inOrder.flatMap(set_rule => blockedBy(set_rule, { ...ceilings, policy, budget_atomic: null }, call) ?? []);
}

function blockedBy({ policy_type, rule, set }: SetRule, ceilings: Ceilings, call: AskedCall): Blocked | null {
  const value = set(ceilings);
  if (value === undefined) return null;
  const { approval_ttl: approval_ttl_seconds = policyLimits.approval_ttl_seconds } = ceilings.policy;
  const objection = rule.objection(value as never, { ...ceilings, approval_ttl_seconds }, call);
  if (objection === null) return null;
  const { refusal_code, policy_code } = rule;
  const policy_key = objection.period_start === null ? null : policy_type;
  return { kind: 'blocked', refusal_code, policy_code: policy_code as PolicyCode, policy_key, ...objection };
}
