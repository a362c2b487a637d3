import type { AtomicAmount } from './amount.ts';
import type { Window } from './clock-window.ts';
import type { WordOf, Words } from './words.ts';

/* What a policy's rule is handed, and what it answers. */

/** Codes of signed refusals: the issuer refused a call because of a rule of the book. */
export const refusalCodes = {
  graph: 'RefusalCode',
  description: 'Reason why the issuer refused a call, as signed in the refusal.',
  meanings: {
    policy_blocked: 'A policy of the book refused the call.',
    budget_exhausted: 'The call would exceed the budget of the book.',
    approval_ttl_expired: 'The book requires a new approval of the call.',
  },
} as const satisfies Words;
export type RefusalCode = WordOf<typeof refusalCodes>;

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

/** A signed act that approves a call, once it has been verified that it is for this very one. */
export interface Approval {
  /** When it was taken in, by the database's clock. */
  readonly at_ms: number;
  /** Its type, such as `approve`. */
  readonly act: string;
}

/** What a call asks of its book. */
export interface AskedCall {
  /** Null: no money is asked for, a key stands in for it. Such a call is under no ceiling. */
  readonly amount: AtomicAmount | null;
  /** Ids of the models one of which will answer; empty where no model is involved. */
  readonly models: readonly string[];
  /** Every name of the operation: a paid door's, or an act's (schema/paid-operations.ts); empty where it is not known. */
  readonly operations: readonly string[];
  readonly approval: Approval | null;
}

/** What a rule judges by. */
export interface PolicyStanding extends Spending {
  /** For how long an approval is fresh, as the book's owner has set it. */
  readonly approval_ttl_seconds: number;
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

/** When a kind refuses. */
export interface PolicyRule<T> {
  readonly refusal_code: RefusalCode;
  readonly policy_code: string;
  /** Of several that refuse one call, the lowest is named. */
  readonly precedence: number;
  objection(set: T, standing: PolicyStanding, call: AskedCall): Objection | null;
}
