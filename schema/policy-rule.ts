import type { AtomicAmount } from './amount.ts';
import type { Window } from './clock-window.ts';
import type { WordOf, Words } from './words.ts';

/* Input and output of the rule of a policy. */

/** Codes of signed refusals: the issuer refused a call because of a rule of the book. */
export const refusalCodes = {
  graph: 'RefusalCode',
  description: 'Reason why the issuer refused a call, as signed in the refusal.',
  meanings: {
    policy_blocked: 'A policy of the book refused the call.',
    budget_exhausted: 'The call would exceed the budget of the book.',
    approval_ttl_expired: 'The book requires a fresh approval of the call.',
  },
} as const satisfies Words;
export type RefusalCode = WordOf<typeof refusalCodes>;

/** Spending of a book under the lock of its head: everything but the owner's settings that decides whether a charge is accepted. */
export interface Spending {
  readonly spent_atomic: AtomicAmount;
  /** Held by calls in progress. They count as spent, because they may still be collected. */
  readonly reserved_atomic: AtomicAmount;
  readonly hour: Window;
  readonly day: Window;
  /** Time by the clock of the database. */
  readonly now_ms: number;
}

/** A signed act that approves a call, verified to be for this call. */
export interface Approval {
  /** Time of receipt, by the clock of the database. */
  readonly at_ms: number;
  /** Type of the act, such as `approve`. */
  readonly act: string;
}

/** A call as a policy sees it. */
export interface PolicyCall {
  /** Null if an API key is used instead of a payment. Caps do not apply to such a call. */
  readonly amount: AtomicAmount | null;
  /** Ids of the candidate models. Empty if no model is involved. */
  readonly models: readonly string[];
  /** Names of the operation: of paid endpoints or of acts (schema/paid-operations.ts). Empty if unknown. */
  readonly operations: readonly string[];
  readonly approval: Approval | null;
}

/** Spending and settings that a rule uses. */
export interface PolicyStanding extends Spending {
  /** Seconds for which an approval is fresh, as set by the owner. */
  readonly approval_ttl_seconds: number;
}

/** Reason for a refusal, in numbers and in words. */
export interface Objection {
  /** Amount collected under the cap that refuses. */
  readonly spent_atomic: AtomicAmount;
  /** Null if the rule does not depend on an amount. */
  readonly cap_atomic: AtomicAmount | null;
  /** ISO 8601 (UTC). Null if the rule has no clock period. */
  readonly period_start: string | null;
  readonly reason: string;
}

/** The rule of a policy. */
export interface PolicyRule<T> {
  readonly refusal_code: RefusalCode;
  readonly policy_code: string;
  /** If several rules refuse a call, the lowest is named. */
  readonly precedence: number;
  objection(set: T, standing: PolicyStanding, call: PolicyCall): Objection | null;
}
