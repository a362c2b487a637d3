import type { z } from 'zod';
import { type AtomicAmount, atomicAmount } from './amount.ts';
import { windowAt } from './clock-window.ts';
import { limits, policyLimits } from './limits.ts';
import type { PolicyCall, PolicyRule, PolicyStanding } from './policy-rule.ts';
import type { policyTypes } from './policy-types.ts';
import type { WordOf, Words } from './words.ts';

/*
 * The policies that the owner of a book can set, one entry each: its type, when it refuses a call, and with which codes. Requests,
 * GraphQL, REST, OpenAPI and `evaluate` (subgraphs/book/policy) are derived from these entries. Pure functions: the time and the
 * spending are arguments.
 */

type PolicyTypes = typeof policyTypes;

export interface PolicyKind<T extends keyof PolicyTypes = keyof PolicyTypes> {
  readonly type: T;
  readonly description: string;
  /** Null if the policy refuses nothing itself but other rules use it. */
  readonly rule: PolicyRule<z.output<PolicyTypes[T]['value']>> | null;
}

/** A cap on the amount collected in one clock period. */
function capOf<N extends string, C extends string>(
  period: 'hour' | 'day',
  { name, policy_code, precedence }: { readonly name: N; readonly policy_code: C; readonly precedence: number },
) {
  return {
    refusal_code: 'policy_blocked',
    policy_code,
    precedence,
    objection(set: string, spending, { amount }) {
      if (amount === null) return null;
      // Throws if the stored value is not an amount: an unreadable cap lets nothing pass.
      const cap_atomic = atomicAmount(BigInt(set));
      const { atomic, start_ms } = windowAt(spending[period], period, spending.now_ms);
      if (atomic + spending.reserved_atomic + amount <= cap_atomic) return null;
      const period_start = new Date(start_ms).toISOString();
      const sum = sumOf(atomic, spending.reserved_atomic, amount);
      const reason = `${sum} is more than the ${name} of ${cap_atomic} from ${period_start} on.`;
      return { spent_atomic: atomic, cap_atomic, period_start, reason };
    },
  } as const satisfies PolicyRule<string>;
}

const noCeiling = { cap_atomic: null, period_start: null } as const;
/** Like every `reason` here it becomes part of the hashed facts of rows and of hashed events, so its wording must not change. */
const KEY_STOOD_IN = 'This book takes no call without a payment, and a key stood in for one.';

function sumOf(spent: bigint, reserved: bigint, amount: bigint): string {
  return `${spent} collected, ${reserved} held by calls under way and ${amount} asked for`;
}

/**
 * Null if the approval is fresh, otherwise what is wrong with it. An approval from the future is invalid, beyond the tolerated
 * difference of clocks.
 */
function staleness({ approval_ttl_seconds, now_ms }: PolicyStanding, { approval }: PolicyCall): string | null {
  if (approval === null) return 'none came with it';
  const age_ms = now_ms - approval.at_ms;
  const fresh = age_ms >= -limits.clocks_apart_seconds_max * 1_000 && age_ms <= approval_ttl_seconds * 1_000;
  return fresh ? null : `the one that came with it is not of the last ${approval_ttl_seconds} seconds`;
}

/**
 * The eight names of the specification, in its order. Precedence: rules without amounts first, then caps from the widest, approvals
 * last, so that nobody approves a call that is refused anyway.
 */
export const policyKinds = {
  daily_cap: {
    type: 'cap',
    description: 'Cap on spend per UTC day, in atomic USDC.',
    rule: capOf('day', { name: 'daily_cap', policy_code: 'daily_cap_exceeded', precedence: 6 }),
  },
  hourly_cap: {
    type: 'cap',
    description: 'Cap on spend per UTC clock hour, in atomic USDC.',
    rule: capOf('hour', { name: 'hourly_cap', policy_code: 'hourly_cap_exceeded', precedence: 5 }),
  },
  model_allowlist: {
    type: 'models',
    description: 'Ids of the models that may answer. `svc/auto` and failover choose only among them.',
    rule: {
      refusal_code: 'policy_blocked',
      policy_code: 'model_not_allowed',
      precedence: 3,
      objection(allowed: string[], { spent_atomic }, { models }) {
        if (models.length === 0 || models.some(model => allowed.includes(model))) return null;
        return {
          spent_atomic,
          ...noCeiling,
          reason: 'No model that could answer this call is on the model_allowlist.',
        };
      },
    },
  },
  kill_switch: {
    type: 'toggle',
    description: 'If true, the book refuses every call except registrations and ingests.',
    rule: {
      refusal_code: 'policy_blocked',
      policy_code: 'kill_switch',
      precedence: 1,
      objection: (on: boolean, { spent_atomic }) =>
        on ? { spent_atomic, ...noCeiling, reason: 'The kill switch of this book is on.' } : null,
    },
  },
  require_payment_ref: {
    type: 'toggle',
    description: 'If true, the book refuses calls that are made with an API key instead of a payment.',
    rule: {
      refusal_code: 'policy_blocked',
      policy_code: 'require_payment_ref',
      precedence: 2,
      objection: (on: boolean, { spent_atomic }, { amount }) =>
        on && amount === null ? { spent_atomic, ...noCeiling, reason: KEY_STOOD_IN } : null,
    },
  },
  tier2_above: {
    type: 'cap',
    description:
      'A charge above this amount in atomic USDC requires a fresh signed approval. `0`: every charge requires its own approval. Calls with an API key charge nothing and pass.',
    rule: {
      refusal_code: 'approval_ttl_expired',
      policy_code: 'tier2_approval_missing',
      precedence: 8,
      objection(set: string, standing, call) {
        const { amount } = call;
        // Throws if the stored value is not an amount: an unreadable threshold lets nothing pass.
        const cap_atomic = atomicAmount(BigInt(set));
        if (amount === null || amount <= cap_atomic) return null;
        const stale = staleness(standing, call);
        if (stale === null) return null;
        const reason = `${amount} is above tier2_above, ${cap_atomic}, and wants a fresh approval: ${stale}.`;
        return { spent_atomic: standing.spent_atomic, cap_atomic, period_start: null, reason };
      },
    },
  },
  approval_ttl: {
    type: 'seconds',
    description: `Seconds for which an approval counts as fresh, 1 to ${policyLimits.approval_ttl_seconds_max}. Default: ${policyLimits.approval_ttl_seconds}.`,
    rule: null,
  },
  risk_tiers: {
    type: 'tiers',
    description:
      '`{high, low}`: two lists of names of acts and of endpoints that sell work of models, such as `create_message`. A call of one in `high` requires a fresh approval at any amount; any other, listed in `low` or not, only above `tier2_above`.',
    rule: {
      refusal_code: 'approval_ttl_expired',
      policy_code: 'high_risk_approval_missing',
      precedence: 7,
      objection({ high }: { high: string[]; low: string[] }, standing, call) {
        const named = call.operations.find(name => high.includes(name));
        const stale = named === undefined ? null : staleness(standing, call);
        if (stale === null) return null;
        const reason = `${named} is of high risk by risk_tiers, and wants a fresh approval: ${stale}.`;
        return { spent_atomic: standing.spent_atomic, ...noCeiling, reason };
      },
    },
  },
} as const satisfies Record<string, { [T in keyof PolicyTypes]: PolicyKind<T> }[keyof PolicyTypes]>;

/** The budget (Y in the specification). It has its own endpoint and column. */
export const budgetRule = {
  refusal_code: 'budget_exhausted',
  policy_code: 'budget_exhausted',
  precedence: 4,
  objection(cap_atomic: AtomicAmount, { spent_atomic, reserved_atomic }, { amount }) {
    if (amount === null || spent_atomic + reserved_atomic + amount <= cap_atomic) return null;
    const sum = sumOf(spent_atomic, reserved_atomic, amount);
    const reason = `${sum} is more than the budget of ${cap_atomic}.`;
    return { spent_atomic, cap_atomic, period_start: null, reason };
  },
} as const satisfies PolicyRule<AtomicAmount>;

type Kinds = typeof policyKinds;
export type PolicyType = keyof Kinds;

/** Policies of a book as they are stored. A policy that is not set is absent. Amounts are digits. */
export type BookPolicy = { readonly [K in PolicyType]?: PolicyValue<K> };
export type PolicyValue<K extends PolicyType> = z.output<PolicyTypes[Kinds[K]['type']]['value']>;
export type PolicyCode = NonNullable<Kinds[PolicyType]['rule']>['policy_code'] | (typeof budgetRule)['policy_code'];

/** Whether a policy is enforced or only simulated. */
export const policyModes = {
  graph: 'PolicyMode',
  description: 'What a policy does with a call that it does not allow.',
  meanings: {
    enforce: 'The policy refuses the call.',
    shadow:
      'The policy lets calls pass. For each finished call that it would have refused, a `would_block` event is recorded.',
  },
} as const satisfies Words;
export type PolicyMode = WordOf<typeof policyModes>;
