import type { AtomicAmount } from '../../../schema/amount.ts';
import {
  type BookPolicy,
  budgetRule,
  type Objection,
  type PolicyCode,
  type PolicyKind,
  type PolicyType,
  policyKinds,
  type Spending,
} from '../../../schema/policy-kinds.ts';
import type { RefusalCode } from '../../../schema/refusal-payload.ts';

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
  return rule === null ? [] : [{ policy_type, rule, set: ({ policy }) => policy[policy_type as keyof BookPolicy] }];
});
const budget: SetRule = { policy_type: null, rule: budgetRule, set: ({ budget_atomic }) => budget_atomic ?? undefined };
const inOrder = [...kinds, budget].sort((one, other) => one.rule.precedence - other.rule.precedence);

/**
 * Whether a charge passes: what was collected, what is reserved and the charge itself stay at or below every ceiling.
 * All reservations count against the present hour and day, whenever they were made: one that is collected after the
 * hour has ended can so overfill neither hour. A call for which no money is asked (`amount` null) is under no ceiling.
 */
export function evaluate(ceilings: Ceilings, amount: AtomicAmount | null): Evaluation {
  for (const { policy_type, rule, set } of inOrder) {
    const value = set(ceilings);
    const objection = value === undefined ? null : rule.objection(value as never, ceilings, amount);
    if (objection === null) continue;
    const { refusal_code, policy_code } = rule;
    const policy_key = objection.period_start === null ? null : policy_type;
    return { kind: 'blocked', refusal_code, policy_code: policy_code as PolicyCode, policy_key, ...objection };
  }
  return { kind: 'admitted' };
}
