import type { JsonObject } from '../../schema/canonical-json.ts';
import type { ErrorCode, Refusal } from '../../schema/errors.ts';
import type { TaskId } from '../../schema/ids.ts';
import type { BlockedTooOften } from '../../subgraphs/book/ledger/block.ts';
import type { AnyPaid } from '../../subgraphs/sale.ts';
import type { NotSent } from '../rails/outcome.ts';
import type { RefusedBySession } from '../record/under-sessions.ts';

/** By what a purchase or a call by key is named. */
export type NamedBy = 'payment_identifier' | 'idempotency_key';

/** Every way in which a paid call can end without its answer, as the steps of the story find it. */
export type CallOutcome =
  | { readonly kind: 'unpaid'; readonly paid: AnyPaid; readonly unknown_key: boolean }
  /** The first of two payments has moved, in that transaction; of the second nothing has. */
  | { readonly kind: 'second_due'; readonly paid: AnyPaid; readonly payment_ref: string }
  /** `reason` is x402's own word for why the payment is not taken. */
  | { readonly kind: 'rejected'; readonly paid: AnyPaid; readonly reason: string }
  /** Too many payments that only code on the chain can vouch for want to be proven. */
  | { readonly kind: 'no_turn'; readonly retry_after_seconds: number }
  /** Its payer, or the address that it comes from, is to rest. */
  | { readonly kind: 'resting'; readonly seconds: number }
  | { readonly kind: 'chain_unreachable' }
  | { readonly kind: 'not_sent'; readonly reason: NotSent['reason'] }
  /** It may have moved or may yet. `transaction`: sent for it, as far as that is known. */
  | { readonly kind: 'unknown'; readonly transaction?: string | null }
  /** The same, found as the claim was looked for: asked again in a moment it may be known. */
  | { readonly kind: 'unknown_here' }
  /** The same, of a call that was claimed. */
  | { readonly kind: 'pending'; readonly task_id: TaskId; readonly transaction?: string | null }
  | { readonly kind: 'in_flight'; readonly task_id: TaskId }
  | { readonly kind: 'foreign' /** The other request that it was made for. */; readonly settled: boolean }
  /** Others have guessed at what it was made for. `proof`: how its payer shows that it is theirs. */
  | { readonly kind: 'doubtful'; readonly proof?: JsonObject }
  | { readonly kind: 'lapsed' }
  | { readonly kind: 'slot_taken'; readonly paid: AnyPaid }
  /** Another payment under the same name is being worked on. */
  | { readonly kind: 'name_in_flight'; readonly by: NamedBy; readonly task_id?: TaskId }
  /** The name stands for another request. */
  | { readonly kind: 'name_foreign'; readonly by: NamedBy }
  | { readonly kind: 'key_name_in_flight' }
  | { readonly kind: 'key_names_full' }
  | { readonly kind: 'key_calls_full'; readonly calls_max: number }
  /** The call was not taken. `unsure`: whether its payment was sent before by another call is not known. */
  | { readonly kind: 'not_taken'; readonly unsure: boolean }
  /** The session that came along opens no book, or the key may not write there. */
  | { readonly kind: 'wrong_session' }
  /** It was bought under a session that did not come with it. */
  | { readonly kind: 'not_possessor' }
  | { readonly kind: 'answer_gone'; readonly verify_url: string }
  /** The payment has moved and is recorded; its book lets no work be done for it now. */
  | { readonly kind: 'kill_switch_resend'; readonly task_id: TaskId; readonly verify_url: string }
  /** Why its book refuses it: `document` is the signed refusal. */
  | { readonly kind: 'blocked'; readonly code: ErrorCode; readonly document: JsonObject }
  /** The session that it would be paid under, or one over it. */
  | RefusedBySession
  | { readonly kind: 'blocked_too_often'; readonly too_often: BlockedTooOften; readonly last_refusal_url: string }
  /** Its buyer wants it no longer, and has said so before its payment was sent. */
  | { readonly kind: 'canceled'; readonly task_id: TaskId }
  /** It broke off here. `away`: nothing is wrong with the call, but what it needs is away. */
  | { readonly kind: 'broke_off'; readonly away: boolean; readonly task_id?: TaskId }
  /** What broke off had been paid for before. `final`: a hub judged the request itself, and will judge it so again. */
  | {
      readonly kind: 'still_owed';
      readonly refusal: Refusal;
      readonly final: boolean;
      readonly task_id: TaskId;
      readonly verify_url: string;
    };
