import type { JsonObject } from '../../schema/canonical-json.ts';
import type { ErrorCode, Refusal } from '../../schema/errors.ts';
import type { TaskId } from '../../schema/ids.ts';
import type { BlockedTooOften } from '../../subgraphs/book/ledger/block.ts';
import type { AnyPaid } from '../../subgraphs/sale.ts';
import type { NotSent } from '../rails/outcome.ts';
import type { RefusedBySession } from './record/under-sessions.ts';

/** How a purchase or a call by API key is named. */
export type NamedBy = 'payment_identifier' | 'idempotency_key';

/** Every way in which a paid call can end without its answer. */
export type CallOutcome =
  | { readonly kind: 'unpaid'; readonly paid: AnyPaid; readonly unknown_key: boolean }
  /** The first of two payments has moved, in that transaction; the second has not. */
  | { readonly kind: 'second_due'; readonly paid: AnyPaid; readonly payment_ref: string }
  /** `reason` is x402's code for why the payment is not accepted. */
  | { readonly kind: 'rejected'; readonly paid: AnyPaid; readonly reason: string }
  /** Too many payments that only code on the chain can prove are waiting. */
  | { readonly kind: 'no_turn'; readonly retry_after_seconds: number }
  /** Its payer or address must wait. */
  | { readonly kind: 'resting'; readonly seconds: number }
  | { readonly kind: 'chain_unreachable' }
  | { readonly kind: 'not_sent'; readonly reason: NotSent['reason'] }
  /** It may have moved or may yet. `transaction`: the one sent for it, if known. */
  | { readonly kind: 'unknown'; readonly transaction?: string | null }
  /** The same, found while looking for the claim: it may be known a moment later. */
  | { readonly kind: 'unknown_here' }
  /** The same for a claimed call. */
  | { readonly kind: 'pending'; readonly task_id: TaskId; readonly transaction?: string | null }
  | { readonly kind: 'in_flight'; readonly task_id: TaskId }
  | { readonly kind: 'foreign' /** The other request that it was made for. */; readonly settled: boolean }
  /** Others have guessed what it was made for. `proof`: how its payer proves to be the payer. */
  | { readonly kind: 'doubtful'; readonly proof?: JsonObject }
  | { readonly kind: 'lapsed' }
  | { readonly kind: 'slot_taken'; readonly paid: AnyPaid }
  /** A call with the same name is in progress. */
  | { readonly kind: 'name_in_flight'; readonly by: NamedBy; readonly task_id?: TaskId }
  /** The name belongs to another request. */
  | { readonly kind: 'name_foreign'; readonly by: NamedBy }
  | { readonly kind: 'key_name_in_flight' }
  | { readonly kind: 'key_names_full' }
  | { readonly kind: 'key_calls_full'; readonly calls_max: number }
  /** The call was not accepted. `unsure`: whether an earlier call sent its payment is unknown. */
  | { readonly kind: 'not_taken'; readonly unsure: boolean }
  /** The session opens no book, or the key may not write there. */
  | { readonly kind: 'wrong_session' }
  /** It was bought under a session that the caller did not show. */
  | { readonly kind: 'not_possessor' }
  | { readonly kind: 'answer_gone'; readonly verify_url: string }
  /** The payment has moved and is recorded; its book allows no work for it now. */
  | { readonly kind: 'kill_switch_resend'; readonly task_id: TaskId; readonly verify_url: string }
  /** Refused by its book: `document` is the signed refusal. */
  | { readonly kind: 'blocked'; readonly code: ErrorCode; readonly document: JsonObject }
  /** Refused by its session or one above it. */
  | RefusedBySession
  | { readonly kind: 'blocked_too_often'; readonly too_often: BlockedTooOften; readonly last_refusal_url: string }
  /** Its buyer canceled it before its payment was sent. */
  | { readonly kind: 'canceled'; readonly task_id: TaskId }
  /** It broke off here. `away`: the call is fine, but something that it needs is unreachable. */
  | { readonly kind: 'broke_off'; readonly away: boolean; readonly task_id?: TaskId }
  /** It broke off and had been paid for before. `final`: a hub judged the request itself and would do so again. */
  | {
      readonly kind: 'still_owed';
      readonly refusal: Refusal;
      readonly final: boolean;
      readonly task_id: TaskId;
      readonly verify_url: string;
    };
