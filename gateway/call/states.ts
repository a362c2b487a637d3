import { type JsonObject } from '../../schema/canonical-json.ts';
import { type Refusal } from '../../schema/errors.ts';
import { type TaskId } from '../../schema/ids.ts';
import { type ShownDelegation } from '../../schema/session/delegation-header.ts';
import { type ChargedAnswer, type SettlementStatus } from '../../subgraphs/charge-port.ts';
import { type ClaimOutcome, type ClaimRequest, type Lease } from '../../subgraphs/receipt/claim/claim.ts';
import { type NamedPayment } from '../../subgraphs/receipt/claim/identifier.ts';
import { type Payer, type Work, type WorkBounds } from '../../subgraphs/sale.ts';
import { type StampFact } from '../../subgraphs/stamped-row.ts';
import { type Stopwatch } from '../../subgraphs/stopwatch.ts';
import { type RecordableOutcome } from '../rails/outcome.ts';
import { type Payment } from '../rails/payment.ts';
import { type Rail } from '../rails/rail.ts';
import { type TermsMismatch } from '../rails/verify.ts';
import { type ClaimedUnder } from './claim/under-sessions.ts';
import { type InHand } from './record/facts.ts';
import { type RequestedSale } from './request.ts';

/*
 * The states of a call. Each contains the results of the steps before it:
 *
 *   presented → claimed → held → settled → recorded (ChargedAnswer)
 *           └→ bought  → kept, or held again
 *   API key           → held
 *
 * How a call can end without an answer is `CallOutcome` in respond.ts.
 */

/** The payment was verified. Nothing is stored, and the payment can be used for any other request. */
export interface Presented<P extends Payment = Payment> extends RequestedSale {
  readonly payment: Authorized<P>;
  readonly payer: Payer;
  /** Identifies the payment. */
  readonly claim_key: string;
  /** The rail of the payment's network, which looks the payment up and sends it. */
  readonly rail: Rail;
  readonly request_hash: string;
  /** Whether the previous version claimed the payment. Then args and hash are of the request as that version understood it. */
  readonly is_former: boolean;
  /** The grant that came with the payment. Null without one. */
  readonly delegation: ShownDelegation | null;
  /** The result of admitting the grant. */
  readonly under?: ClaimedUnder | null;
  /** The payer's name for this purchase. Null without one, and for a stamp, whose effect exists once anyway. */
  readonly identifier: string | null;
  /** Names of the purchase: the payer's identifier, the Idempotency-Key, both or neither. */
  readonly names: readonly NamedPayment[];
  /** Whether the caller has proven to be the payer, by more than the payment's calldata. */
  readonly is_payers?: boolean;
}

/**
 * A payment that passed the checks of this process. A signature that is not a key's proves nothing yet: the wallet's code must judge it.
 */
export type Authorized<P extends Payment = Payment> = P & {
  readonly x402_version: 1 | 2;
  /** Why the payment can no longer be settled, with x402's code. Null if it can. The answer to a former purchase is owed in any case. */
  readonly late: { readonly code: TermsMismatch; readonly reason: string } | null;
};

/** The call was bought before, by the same payment or by the first one under the same name. Nothing is claimed. */
export interface Bought {
  readonly kind: 'bought';
  readonly presented: Presented;
  readonly before: Omit<Extract<ClaimOutcome, { kind: 'replayed' }>, 'kind'>;
}

/** The claim of the payment is stored for this process, under a lease. Nothing was sent. */
export interface Claimed extends Presented {
  readonly kind: 'claimed';
  readonly claim: ClaimRequest;
  readonly lease: Lease;
  readonly task_id: TaskId;
  /** The models that the book allowed when it allowed the call. */
  readonly allowed_models: WorkBounds['allowed_models'];
  /** Whether the payment is used already. Whether it paid this service is checked before any work. */
  readonly spent: boolean;
}

/**
 * The work of the call may be done. The call rests on a claim of its payment (call.ts), an API key (by-key.ts), or a moved payment that is
 * still owed its answer (replay.ts). Only this process holds it, until it is recorded or abandoned.
 */
export interface Held<S extends Settled = Settled> {
  readonly kind: 'held';
  readonly task_id: TaskId;
  /** The request of the work. For a payment claimed by the previous version, the request as that version understood it. */
  readonly args: JsonObject;
  /** Null for a call by API key. */
  readonly payer: Payer | null;
  readonly status: SettlementStatus;
  /** Number of the rerun, from 1. Left out if the work is not repeated. */
  readonly rerun?: number;
  readonly bounds: WorkBounds;
  /** Times each step. */
  readonly steps: Pick<Stopwatch, 'begin'>;
  /** Moves the money. Nothing is sent to the caller before it resolves. @throws the refusal for the caller, through `abandon` */
  settle(in_hand: InHand | StampFact<JsonObject> | null): Promise<S>;
  /** Releases what is held, now or later. Never throws: resolves with the refusal for the caller. */
  abandon(error: unknown): Promise<Refusal>;
}

/** A former purchase and its answer: no work is done and nothing is charged. */
export interface Kept {
  readonly kind: 'kept';
  readonly charged: ChargedAnswer<JsonObject>;
  readonly payment_ref: string | null;
}

/** The money has moved, or there is none to move: the answer may be sent. */
export interface Settled {
  /** Reference of the payment, such as `base:0x…` or `solana:…`. Null if nothing was paid. */
  readonly payment_ref: string | null;
  /** Reports the payment's result to the client in headers. */
  announce(): void;
  /** Records the call. A stamp has no work: the record writes its effect, from the facts that the stamp has found. */
  record(done: Work<JsonObject> | StampFact<JsonObject> | null): Promise<ChargedAnswer<JsonObject>>;
}

/** The call's own payment has moved. */
export interface SettledPayment extends Settled {
  readonly transfer: RecordableOutcome;
}

/** How much of the payer's money may have moved when a call breaks off. */
export type Movement = 'nothing_moved' | 'may_have_moved' | 'moved';
