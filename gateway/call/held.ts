import type { JsonObject } from '../../schema/canonical-json.ts';
import type { Refusal } from '../../schema/errors.ts';
import type { TaskId } from '../../schema/ids.ts';
import { limits } from '../../schema/limits.ts';
import type { ChargedAnswer, SettlementStatus } from '../../subgraphs/charge-port.ts';
import type { Payer, Work, WorkBounds } from '../../subgraphs/sale.ts';
import type { StampFact } from '../../subgraphs/stamped-row.ts';
import type { Stopwatch } from '../../subgraphs/stopwatch.ts';
import type { InHand } from './record/facts.ts';

/** How much of the payer's money may have moved when a call breaks off. */
export type Movement = 'nothing_moved' | 'may_have_moved' | 'moved';

/** What is needed to send an answer. */
export interface SettledCall {
  /** `base:0x…`; null if nothing was paid. */
  readonly payment_ref: string | null;
  /** Reports the payment's result to the client in headers. */
  announce(): void;
}

/**
 * What a call rests on during its work: a claim of its payment (paid.ts), an API key (waived.ts), or a moved payment that is
 * still owed its answer (redelivery.ts). Held by this process alone until it is recorded or abandoned.
 */
export interface Held {
  readonly task_id: TaskId;
  /** The request of the work: for a payment claimed by the previous version, as that one understood it. */
  readonly args: JsonObject;
  /** Null for a call by API key. */
  readonly payer: Payer | null;
  readonly status: SettlementStatus;
  /** For repeated work: its number, from 1. */
  readonly rerun?: number;
  readonly bounds: WorkBounds;
  /** Times each step. */
  readonly steps: Pick<Stopwatch, 'begin'>;
  /** Nothing is sent before this resolves. @throws the refusal for the caller, through `abandon` */
  settle(in_hand: InHand | StampFact<JsonObject> | null): Promise<SettledCall>;
  /** A stamp has no work: the record itself writes its effect, from what it found. */
  record(done: Work<JsonObject> | StampFact<JsonObject> | null): Promise<ChargedAnswer<JsonObject>>;
  /** Releases what is held, now or later. Never throws: resolves with the refusal for the caller. */
  abandon(error: unknown): Promise<Refusal>;
}

/** A former purchase and its answer: no work is done and nothing is charged. */
export interface KeptCall {
  readonly charged: ChargedAnswer<JsonObject>;
  readonly payment_ref: string | null;
}

/** What an answer is delivered on. */
export type Footing =
  | { readonly kind: 'held'; readonly held: Held }
  | { readonly kind: 'kept'; readonly kept: KeptCall };

/**
 * Time limit of the work: the hubs' maximum, and for an unsettled payment early enough to settle it. Null: there is no work, or
 * its money has moved already.
 */
export function workUntil(now_ms: number, unsettled: { readonly valid_before_seconds: number } | null): number {
  const patience_ms = now_ms + limits.hubs_timeout_ms;
  if (unsettled === null) return patience_ms;
  return Math.min(patience_ms, (unsettled.valid_before_seconds - limits.payment_validity_seconds_min) * 1_000);
}
