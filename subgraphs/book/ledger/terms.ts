import type { AtomicAmount } from '../../../schema/amount.ts';
import type { TermsEventKind } from '../../../schema/book/event.ts';
import { canonicalHash, type JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { BookPolicy } from '../../../schema/policy-kinds.ts';
import type { HeldBook, ProvenBy } from '../../../schema/principal.ts';
import { iso } from '../../clock.ts';
import type { Database } from '../../database.ts';
import { withoutBudget } from '../alerts/state.ts';
import { appendEvent, lockBooks, storeBooks } from './append.ts';
import { requireChangeRoom } from './change-room.ts';

/** Terms of a book. They are hashed, and each change of them is an event. */
export interface BookTerms {
  readonly budget_atomic: AtomicAmount | null;
  readonly policy: BookPolicy;
  /** Policies in shadow mode. They refuse no call, and record the refusals that they would have made. */
  readonly shadow: BookPolicy;
}

/** Changed terms, and the event that records the change. */
export interface ChangedTerms extends BookTerms {
  readonly event: { readonly kind: TermsEventKind; readonly body: JsonObject };
  /** True if the change stops the book. Such a change is never rate limited. */
  readonly stops?: boolean;
}

/** Session or proof by which the terms are changed. Null if unknown. */
export type ChangeAuthor = (HeldBook & ProvenBy) | null;

/**
 * SHA-256 of the canonical {agent_id, budget_atomic, policy}, on which a signed allowance depends. `shadow` is included only if
 * set, so that older books keep their hashes.
 */
export function termsHash(agent_id: number, { budget_atomic, policy, shadow }: BookTerms): string {
  const budget = budget_atomic === null ? null : budget_atomic.toString();
  return canonicalHash({ agent_id, budget_atomic: budget, policy: policy as JsonObject, ...shadowMember(shadow) });
}

/** Returns the member `shadow` of hashes and events. Empty if there are no shadow policies. */
export function shadowMember(shadow: BookPolicy): JsonObject {
  return Object.keys(shadow).length === 0 ? {} : { shadow: shadow as JsonObject };
}

/** Number of hex digits of a session's hash that are shown. They suffice to distinguish two sessions. */
const SESSION_DIGITS = 16;

export function sessionMark(session_hash: string): string {
  return session_hash.slice(0, SESSION_DIGITS);
}

/** Author of a change in the form that its event records. */
export function changeAuthor(by: ChangeAuthor): JsonObject | null {
  return by && { by: by.by, session: sessionMark(by.session_hash) };
}

/**
 * Changes the terms under the head's lock and records the change as an event. Returns the terms, or null if the book does not
 * exist. The new terms apply to every reservation that begins after this function has returned. A change that has no effect writes
 * nothing.
 * @throws Refusal book_damaged, rate_limited
 */
export function setTerms(
  database: Database,
  agent_id: AgentId,
  by: ChangeAuthor,
  change: (terms: BookTerms) => ChangedTerms,
): Promise<BookTerms | null> {
  return database.transaction(async tx => {
    const head = (await lockBooks(tx, [agent_id])).get(agent_id);
    if (!head) return null;
    if (head.damaged) throw new Refusal('book_damaged');
    const { event, budget_atomic, policy, shadow, stops = false } = change(head);
    const terms = { budget_atomic, policy, shadow };
    const terms_hash = termsHash(agent_id, terms);
    if (terms_hash === termsHash(agent_id, head)) return terms;
    if (!stops) await requireChangeRoom(tx, agent_id, 'terms');
    const policy_version = head.policy_version + 1;
    const body = { ...event.body, policy_version, by: changeAuthor(by) };
    const alert_state = budget_atomic === head.budget_atomic ? head.alert_state : withoutBudget(head.alert_state);
    const changed = appendEvent(
      { ...head, alert_state },
      { kind: event.kind, seq: null, task_id: null, body },
      iso(head.now_ms),
    );
    storeBooks(tx, new Map([[agent_id, changed.head]]), [changed.event]);
    tx.write({
      name: 'set terms',
      text: `update book set budget_atomic = $2, policy = $3, shadow = $4, terms_hash = $5, policy_version = $6
        where agent_id = $1`,
      values: [agent_id, budget_atomic?.toString() ?? null, policy, shadow, terms_hash, policy_version],
    });
    return terms;
  });
}
