import type { JsonObject } from '../../schema/canonical-json.ts';
import type { Refusal } from '../../schema/errors.ts';
import type { TaskId } from '../../schema/ids.ts';
import { limits } from '../../schema/limits.ts';
import type { Payer, Work, WorkBounds } from '../../subgraphs/sale.ts';
import type { Charged, SettlementStatus } from '../../subgraphs/selling.ts';
import type { Found } from '../../subgraphs/stamped-row.ts';
import type { Stopwatch } from '../../subgraphs/stopwatch.ts';
import type { InHand } from '../record/facts.ts';

/** How much of the payer's money may have moved when a call breaks off. */
export type Movement = 'nothing_moved' | 'may_have_moved' | 'moved';

/** What an answer may go out for. */
export interface SettledCall {
  /** `base:0x…`; null where nothing was paid. */
  readonly payment_ref: string | null;
  /** Tells the client in headers what became of its payment. */
  announce(): void;
}

/**
 * What a call rests on while it is worked for: a claim of its payment (paid.ts), a key that stands in for one (waived.ts),
 * or a payment that has moved and is still owed its answer (redelivery.ts). Held by this process alone, until it is recorded
 * or abandoned.
 */
export interface Held {
  readonly task_id: TaskId;
  /** What is worked for: of a payment that the version before has claimed, what that one understood of the request. */
  readonly args: JsonObject;
  /** Null where a key stands in for the payment. */
  readonly payer: Payer | null;
  readonly status: SettlementStatus;
  /** Of work that is done once more: which time it is, from 1. */
  readonly rerun?: number;
  readonly bounds: WorkBounds;
  /** Hears of each step as it begins. */
  readonly steps: Pick<Stopwatch, 'begin'>;
  /** Nothing goes out before this resolves. @throws what the caller hears, by way of `abandon`. */
  settle(in_hand: InHand | Found<JsonObject> | null): Promise<SettledCall>;
  /** A stamp has no work: the record itself writes its effect, from what it has found, if it looked for anything. */
  record(done: Work<JsonObject> | Found<JsonObject> | null): Promise<Charged<JsonObject>>;
  /** Lets go of what is held, now or later. Never throws: resolves with what the caller hears. */
  abandon(error: unknown): Promise<Refusal>;
}

/** What was bought before, and its answer: nothing is worked for and nothing is taken. */
export interface KeptCall {
  readonly charged: Charged<JsonObject>;
  readonly payment_ref: string | null;
}

/** What an answer goes out on. */
export type Footing =
  | { readonly kind: 'held'; readonly held: Held }
  | { readonly kind: 'kept'; readonly kept: KeptCall };

/**
 * Until when work is worth doing: as long as hubs are given at most, and, where a payment is still to be settled for it,
 * not so long that the payment runs out. Null: there is none, or its money has moved already.
 */
export function workUntil(now_ms: number, unsettled: { readonly valid_before_seconds: number } | null): number {
  const patience_ms = now_ms + limits.hubs_timeout_ms;
  if (unsettled === null) return patience_ms;
  return Math.min(patience_ms, (unsettled.valid_before_seconds - limits.payment_validity_seconds_min) * 1_000);
}
