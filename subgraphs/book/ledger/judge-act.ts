import { sha256Hex } from '../../../schema/digest.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId, RefusalId } from '../../../schema/ids.ts';
import type { ActAction } from '../../../schema/session/act.ts';
import type { Tx } from '../../database.ts';
import type { Refuser } from '../../receipt/refusal/sign-refusal.ts';
import { StoredApprovals } from '../approval/stored-approvals.ts';
import { type Blocked, evaluate } from '../policy/evaluate.ts';
import { type Head, headOf, lockBooks, storeBooks } from './append.ts';
import { type BlockedTooOften, type BookRefusal, blockCalls } from './block.ts';

/* Judges acts of delegated sessions by the book of their payer, in the same way as calls. */

/** A signed act that has not taken effect yet. */
export interface JudgedAct {
  readonly agent_id: AgentId;
  readonly delegation_hash: string;
  readonly nonce: string;
  readonly action: ActAction;
  readonly payer_wallet: string;
  /** Earliest time (ms) at which this service may have issued the nonce. Null if the signer chose the nonce. */
  readonly issued_at_ms: number | null;
}

/**
 * Judges an act. Returns null if the book lets it pass. A refused act has a row and a signed refusal, which are written in this
 * transaction by the functions for calls. The same act again returns the same refusal. Only `risk_tiers` applies to acts, and the
 * approval that it requires is a recently issued nonce. No approval request is opened, because the signer can sign again.
 * @throws Refusal book_damaged
 */
export async function judgeAct(
  tx: Tx,
  refuser: Refuser,
  act: JudgedAct,
): Promise<BookRefusal | BlockedTooOften | null> {
  const { agent_id, payer_wallet } = act;
  const books = await lockBooks(tx, [agent_id]);
  const head = headOf(books, agent_id);
  if (head.damaged) throw new Refusal('book_damaged');
  const evaluation = evaluateAct(head, act);
  if (evaluation.kind === 'admitted') return null;
  const task_id = taskOfAct(act);
  const refusal_id = await refusalOf(tx, task_id);
  if (refusal_id !== null) return { kind: 'blocked', refusal_id };
  const unnamed = {
    field: act.action,
    model: null,
    models: [],
    intent_id: null,
    attempt_index: null,
    parent_ref: null,
  };
  const request = { ...unnamed, agent_id, task_id, payer_wallet, amount: null, owed: false, act: true };
  const approvals = await StoredApprovals.read(tx, []);
  const { outcomes, events } = await blockCalls(tx, refuser, { books, approvals }, [{ request, blocked: evaluation }]);
  if (events.length > 0) storeBooks(tx, books, events);
  return outcomes[0] ?? null;
}

/** Evaluates an act. A nonce time in the future counts as now, because the clock of this process may be ahead of the database's. */
function evaluateAct(head: Head, { action, issued_at_ms }: JudgedAct): Blocked | { readonly kind: 'admitted' } {
  const { risk_tiers, approval_ttl } = head.policy;
  const policy = { ...(risk_tiers && { risk_tiers }), ...(approval_ttl !== undefined && { approval_ttl }) };
  const approval = issued_at_ms === null ? null : { act: action, at_ms: Math.min(issued_at_ms, head.now_ms) };
  const request = { amount: null, models: [], operations: [action], approval };
  return evaluate({ ...head, policy, budget_atomic: null }, request);
}

const DIGITS = 32;

/** Task id of the act on one book. An act that two books judge can have a refusal of each. */
function taskOfAct({ agent_id, delegation_hash, nonce, action }: JudgedAct): string {
  return `act_${sha256Hex(`${agent_id}|${delegation_hash}|${nonce}|${action}`).slice(0, DIGITS)}`;
}

async function refusalOf(tx: Tx, task_id: string): Promise<RefusalId | null> {
  const { rows } = await tx.query<{ refusal_id: RefusalId }>({
    name: 'refusal of act',
    text: 'select refusal_id from refusal where task_id = $1',
    values: [task_id],
  });
  return rows[0]?.refusal_id ?? null;
}
