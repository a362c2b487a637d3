import { z } from 'zod';
import { type AtomicAmount, atomicAmount, parseAtomic } from './amount.ts';
import { type Window, windowAt } from './clock-window.ts';
import type { RefusalCode } from './refusal-payload.ts';

/*
 * Everything that a book's owner may set, a row each: how a value is read and shown, when it refuses a call, and under which
 * codes. Requests, the graph, REST, OpenAPI and `evaluate` (subgraphs/book/policy) are made of these rows. Pure: the clock
 * and what was spent come along as data.
 */

/** All that decides whether a book takes another charge, as it stands under the head's lock; but for what its owner set. */
export interface Spending {
  readonly spent_atomic: AtomicAmount;
  /** Held by calls that are neither collected nor given up: they may still be, so they count as if they were. */
  readonly reserved_atomic: AtomicAmount;
  readonly hour: Window;
  readonly day: Window;
  /** Database time. */
  readonly now_ms: number;
}

/** Why a call is refused, in figures and in words. */
export interface Objection {
  /** Collected under the ceiling that refuses, when it does. */
  readonly spent_atomic: AtomicAmount;
  /** Null where no amount decides. */
  readonly cap_atomic: AtomicAmount | null;
  /** ISO 8601, UTC; null where no clock period decides. */
  readonly period_start: string | null;
  readonly reason: string;
}

/** When a kind refuses. `amount` null: no money is asked for, a key stands in for it; such a call is under no ceiling. */
interface Rule<T> {
  readonly refusal_code: RefusalCode;
  readonly policy_code: string;
  /** Of several that refuse one call, the lowest is named. */
  readonly precedence: number;
  objection(set: T, spending: Spending, amount: AtomicAmount | null): Objection | null;
}

/** A cap in atomic USDC. A JSON number that is exact is taken too; it is kept as the string that it spells. */
const Cap = z
  .union([z.string(), z.int().nonnegative().transform(String)])
  .refine(text => parseAtomic(text) !== null, { error: 'is not a string of digits (atomic USDC)' });

/** How values of a type are read, and what is said of one that cannot be. */
export const policyTypes = {
  cap: { value: Cap, wants: 'is a string of digits (atomic USDC) or null' },
  toggle: { value: z.boolean(), wants: 'is true, false or null' },
  names: { value: z.array(z.string()), wants: 'is a list of names or null' },
  seconds: { value: z.int().nonnegative(), wants: 'is a number of seconds or null' },
  members: { value: z.record(z.string(), z.json()), wants: 'is an object or null' },
} as const;
type PolicyTypes = typeof policyTypes;

export interface PolicyKind<T extends keyof PolicyTypes = keyof PolicyTypes> {
  readonly type: T;
  /** On the graph. */
  readonly description?: string;
  /** In OpenAPI. */
  readonly rest_description?: string;
  /** Null: named by the specification and not offered yet. What is stored and not kept would be worse than none. */
  readonly rule: Rule<z.output<PolicyTypes[T]['value']>> | null;
}

/** A ceiling over what is collected in one clock period. */
function capOf<N extends string, C extends string>(
  period: 'hour' | 'day',
  { name, policy_code, precedence }: { readonly name: N; readonly policy_code: C; readonly precedence: number },
) {
  return {
    refusal_code: 'policy_blocked',
    policy_code,
    precedence,
    objection(set: string, spending, amount) {
      if (amount === null) return null;
      // Throws where what is stored is no amount: a cap that cannot be read lets nothing pass.
      const cap_atomic = atomicAmount(BigInt(set));
      const { atomic: spent_atomic, start_ms } = windowAt(spending[period], period, spending.now_ms);
      if (spent_atomic + spending.reserved_atomic + amount <= cap_atomic) return null;
      const period_start = new Date(start_ms).toISOString();
      const sum = sumOf(spent_atomic, spending.reserved_atomic, amount);
      const reason = `${sum} is more than the ${name} of ${cap_atomic} from ${period_start} on.`;
      return { spent_atomic, cap_atomic, period_start, reason };
    },
  } as const satisfies Rule<string>;
}

const noCeiling = { cap_atomic: null, period_start: null } as const;
const KEY_STOOD_IN = 'This book takes no call without a payment, and a key stood in for one.';

function sumOf(spent: bigint, reserved: bigint, amount: bigint): string {
  return `${spent} collected, ${reserved} held by calls under way and ${amount} asked for`;
}

/** Of the specification's eight names, in its order. */
export const policyKinds = {
  daily_cap: {
    type: 'cap',
    description: 'Atomic USDC per UTC day.',
    rule: capOf('day', { name: 'daily_cap', policy_code: 'daily_cap_exceeded', precedence: 5 }),
  },
  hourly_cap: {
    type: 'cap',
    description: 'Atomic USDC per UTC clock hour.',
    rule: capOf('hour', { name: 'hourly_cap', policy_code: 'hourly_cap_exceeded', precedence: 4 }),
  },
  model_allowlist: { type: 'names', rule: null },
  kill_switch: {
    type: 'toggle',
    description: 'On, it lets no call pass.',
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
    description: 'On, it lets no call pass that a key stands in for.',
    rule: {
      refusal_code: 'policy_blocked',
      policy_code: 'require_payment_ref',
      precedence: 2,
      objection: (on: boolean, { spent_atomic }, amount) =>
        on && amount === null ? { spent_atomic, ...noCeiling, reason: KEY_STOOD_IN } : null,
    },
  },
  tier2_above: { type: 'cap', rule: null },
  approval_ttl: { type: 'seconds', rest_description: 'Seconds.', rule: null },
  risk_tiers: { type: 'members', rule: null },
} as const satisfies Record<string, { [T in keyof PolicyTypes]: PolicyKind<T> }[keyof PolicyTypes]>;

/** Budget Y, which is set by a door of its own and kept in a column of its own. */
export const budgetRule = {
  refusal_code: 'budget_exhausted',
  policy_code: 'budget_exhausted',
  precedence: 3,
  objection(cap_atomic: AtomicAmount, { spent_atomic, reserved_atomic }, amount) {
    if (amount === null || spent_atomic + reserved_atomic + amount <= cap_atomic) return null;
    const sum = sumOf(spent_atomic, reserved_atomic, amount);
    const reason = `${sum} is more than the budget of ${cap_atomic}.`;
    return { spent_atomic, cap_atomic, period_start: null, reason };
  },
} as const satisfies Rule<AtomicAmount>;

type Kinds = typeof policyKinds;
export type PolicyType = keyof Kinds;
export type OfferedPolicy = { [K in PolicyType]: Kinds[K]['rule'] extends null ? never : K }[PolicyType];

/** A book's policy as it is kept: what is not set is not there. Amounts are digits. */
export type BookPolicy = { readonly [K in OfferedPolicy]?: PolicyValue<K> };
export type PolicyValue<K extends PolicyType> = z.output<PolicyTypes[Kinds[K]['type']]['value']>;
export type PolicyCode = Kinds[OfferedPolicy]['rule']['policy_code'] | (typeof budgetRule)['policy_code'];

export function isOffered(name: string): name is OfferedPolicy {
  return Object.hasOwn(policyKinds, name) && policyKinds[name as PolicyType].rule !== null;
}
