import type { AtomicAmount } from '../../../schema/amount.ts';
import type { RefusalCode } from '../../../schema/refusal-payload.ts';
import type { BookPolicy } from '../../../schema/requests/policy.ts';
import { iso } from '../../clock.ts';
import { type Period, type Window, windowAt } from './window.ts';

/** All that decides whether a book takes another charge, as it stands under the head's lock. */
export interface Ceilings {
  readonly policy: BookPolicy;
  /** Budget Y; null is unlimited. */
  readonly budget_atomic: AtomicAmount | null;
  readonly spent_atomic: AtomicAmount;
  /** Held by calls that are neither collected nor given up: they may still be, so they count as if they were. */
  readonly reserved_atomic: AtomicAmount;
  readonly hour: Window;
  readonly day: Window;
  /** Database time. */
  readonly now_ms: number;
}

export type PolicyCode =
  | 'kill_switch'
  | 'require_payment_ref'
  | 'budget_exhausted'
  | 'hourly_cap_exceeded'
  | 'daily_cap_exceeded';

export interface Blocked {
  readonly kind: 'blocked';
  readonly refusal_code: RefusalCode;
  readonly policy_code: PolicyCode;
  /** Only where a cap of a clock period is what blocked. */
  readonly policy_key: 'hourly_cap' | 'daily_cap' | null;
  /** Collected under the ceiling that blocked, when it blocked. */
  readonly spent_atomic: AtomicAmount;
  /** Null where no amount decides. */
  readonly cap_atomic: AtomicAmount | null;
  /** ISO 8601, UTC; null where no clock period decides. */
  readonly period_start: string | null;
  readonly reason: string;
}

export type Evaluation = { readonly kind: 'admitted' } | Blocked;

/**
 * Whether a charge passes: what was collected, what is reserved and the charge itself stay at or below every ceiling.
 * All reservations count against the present hour and day, whenever they were made: one that is collected after the
 * hour has ended can so overfill neither hour. A call for which no money is asked (`amount` null) is under no ceiling.
 */
export function evaluate(ceilings: Ceilings, amount: AtomicAmount | null): Evaluation {
  const { policy, budget_atomic } = ceilings;
  if (policy.kill_switch) return switchedOff(ceilings, 'kill_switch', 'The kill switch of this book is on.');
  if (amount === null) {
    const reason = 'This book takes no call without a payment, and a key stood in for one.';
    return policy.require_payment_ref ? switchedOff(ceilings, 'require_payment_ref', reason) : { kind: 'admitted' };
  }
  return (
    overBudget(ceilings, budget_atomic, amount) ??
    overCap(ceilings, 'hour', 'hourly_cap', 'hourly_cap_exceeded', amount) ??
    overCap(ceilings, 'day', 'daily_cap', 'daily_cap_exceeded', amount) ?? { kind: 'admitted' }
  );
}

/** By a policy that no amount decides. */
function switchedOff({ spent_atomic }: Ceilings, policy_code: PolicyCode, reason: string): Blocked {
  const figures = { spent_atomic, cap_atomic: null, period_start: null };
  return { kind: 'blocked', refusal_code: 'policy_blocked', policy_code, policy_key: null, ...figures, reason };
}

function overBudget(ceilings: Ceilings, cap: AtomicAmount | null, amount: AtomicAmount): Blocked | null {
  const { spent_atomic: spent, reserved_atomic: reserved } = ceilings;
  if (cap === null || spent + reserved + amount <= cap) return null;
  return {
    kind: 'blocked',
    refusal_code: 'budget_exhausted',
    policy_code: 'budget_exhausted',
    policy_key: null,
    spent_atomic: spent,
    cap_atomic: cap,
    period_start: null,
    reason: `${sum(spent, reserved, amount)} is more than the budget of ${cap}.`,
  };
}

function overCap(
  ceilings: Ceilings,
  period: Period,
  policy_key: 'hourly_cap' | 'daily_cap',
  policy_code: PolicyCode,
  amount: AtomicAmount,
): Blocked | null {
  const set = ceilings.policy[policy_key];
  if (set === undefined) return null;
  const cap = BigInt(set) as AtomicAmount;
  const { atomic: spent, start_ms } = windowAt(ceilings[period], period, ceilings.now_ms);
  if (spent + ceilings.reserved_atomic + amount <= cap) return null;
  const period_start = iso(start_ms);
  return {
    kind: 'blocked',
    refusal_code: 'policy_blocked',
    policy_code,
    policy_key,
    spent_atomic: spent,
    cap_atomic: cap,
    period_start,
    reason: `${sum(spent, ceilings.reserved_atomic, amount)} is more than the ${policy_key} of ${cap} from ${period_start} on.`,
  };
}

function sum(spent: bigint, reserved: bigint, amount: bigint): string {
  return `${spent} collected, ${reserved} held by calls under way and ${amount} asked for`;
}
