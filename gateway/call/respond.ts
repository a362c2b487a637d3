import { type JsonObject } from '../../schema/canonical-json.ts';
import { type ErrorCode, errors, Refusal } from '../../schema/errors.ts';
import { type TaskId } from '../../schema/ids.ts';
import { SIBLINGS_FULL } from '../../schema/session/grant-rule.ts';
import { type BlockedTooOften } from '../../subgraphs/book/ledger/block.ts';
import { type AnyPaid } from '../../subgraphs/sale.ts';
import { type NotSent } from '../rails/outcome.ts';
import { type ChallengeReason, type Challenges } from '../x402/offer.ts';
import { type RefusedBySession } from './claim/under-sessions.ts';
import { type Movement } from './states.ts';

/** The kind of name of a purchase or of a call by API key. */
export type NamedBy = 'payment_identifier' | 'idempotency_key';

/** Every way in which a paid call can end without its answer. */
export type CallOutcome =
  | { readonly kind: 'unpaid'; readonly paid: AnyPaid; readonly unknown_key: boolean }
  /** The first of two payments has moved, in that transaction; the second has not. */
  | { readonly kind: 'second_due'; readonly paid: AnyPaid; readonly payment_ref: string }
  /** `reason` is x402's code for why the payment is not accepted. */
  | { readonly kind: 'rejected'; readonly paid: AnyPaid; readonly reason: string }
  /** Too many payments that only code on the chain can prove are waiting for their checks. */
  | { readonly kind: 'no_turn'; readonly retry_after_seconds: number }
  /** The payer or the address must wait. */
  | { readonly kind: 'resting'; readonly seconds: number }
  | { readonly kind: 'chain_unreachable' }
  | { readonly kind: 'not_sent'; readonly reason: NotSent['reason'] }
  /** The payment may have moved, or may still move. `transaction` is the one that was sent for it, if known. */
  | { readonly kind: 'unknown'; readonly transaction?: string | null }
  /** The same, found while the claim was looked up. The outcome may be known a moment later. */
  | { readonly kind: 'unknown_here' }
  /** The same for a claimed call. */
  | { readonly kind: 'pending'; readonly task_id: TaskId; readonly transaction?: string | null }
  | { readonly kind: 'in_flight'; readonly task_id: TaskId }
  | { readonly kind: 'foreign' /** The other request that it was made for. */; readonly settled: boolean }
  /** Others have guessed the request that the payment was made for. `proof` states how the payer can prove to be the payer. */
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
  /** The call was not accepted. `unsure`: it is unknown whether an earlier call sent the payment. */
  | { readonly kind: 'not_taken'; readonly unsure: boolean }
  /** The session opens no book, or the key may not write to it. */
  | { readonly kind: 'wrong_session' }
  /** The call was bought under a session that the caller did not send. */
  | { readonly kind: 'not_possessor' }
  | { readonly kind: 'answer_gone'; readonly verify_url: string }
  /** The payment has moved and is recorded. Its book allows no work for it now. */
  | { readonly kind: 'kill_switch_resend'; readonly task_id: TaskId; readonly verify_url: string }
  /** The book refused the call. `document` is the signed refusal. */
  | { readonly kind: 'blocked'; readonly code: ErrorCode; readonly document: JsonObject }
  /** The session of the call or one above it refused the call. */
  | RefusedBySession
  | { readonly kind: 'blocked_too_often'; readonly too_often: BlockedTooOften; readonly last_refusal_url: string }
  /** The buyer canceled the call before its payment was sent. */
  | { readonly kind: 'canceled'; readonly task_id: TaskId }
  /** The call broke off in this service. `away`: nothing is wrong with the call, but a part that it needs is unreachable. */
  | { readonly kind: 'broke_off'; readonly away: boolean; readonly task_id?: TaskId }
  /** The call broke off and had been paid for before. `final`: a hub judged the request itself and would do so again. */
  | {
      readonly kind: 'still_owed';
      readonly refusal: Refusal;
      readonly final: boolean;
      readonly task_id: TaskId;
      readonly verify_url: string;
    };

/** Codes whose status tells a caller to pay. */
type Pays = { [C in ErrorCode]: (typeof errors)[C][0] extends 402 ? C : never }[ErrorCode];

/** Facts for a payment that may have moved. They cannot state that nothing was charged. */
interface OpenFacts {
  readonly charged?: true;
  readonly retry_after_seconds?: number;
  readonly task_id?: TaskId | undefined;
  /** The transaction that was sent for the payment, if known. */
  readonly transaction?: string | undefined;
  readonly payer_proof?: JsonObject | undefined;
  readonly verify_url?: string;
}

/**
 * The response to one outcome. A 402 makes its reader sign a second payment, and `charged: false` allows that, so the type for a payment
 * that may have moved has neither.
 */
type Row =
  | {
      readonly movement: 'nothing_moved';
      readonly code: ErrorCode;
      readonly detail?: string | undefined;
      readonly facts?: JsonObject;
    }
  | {
      readonly movement: Exclude<Movement, 'nothing_moved'>;
      readonly code: Exclude<ErrorCode, Pays>;
      readonly detail?: string;
      readonly facts?: OpenFacts;
    };

const nothing = (code: ErrorCode, facts: JsonObject = {}, detail?: string): Row => ({
  movement: 'nothing_moved',
  code,
  facts: { charged: false, ...facts },
  detail,
});

const STILL_OWED =
  'The answer is still owed: the payment was charged before, and its receipt remains valid. Send the same payment again.';
const REFUSED_AGAIN =
  'The payment was charged before, and its receipt remains valid. The same request will be refused again; the agent whose book has its row can dispute it as `output_missing`.';

const unsent: Record<NotSent['reason'], ErrorCode> = {
  chain_unavailable: 'chain_unavailable',
  facilitator_unavailable: 'facilitator_unavailable',
  fee_too_high: 'fee_too_high',
  price_unknown: 'unavailable',
  out_of_gas: 'unavailable',
  claim_lost: 'unavailable',
  journal_failed: 'unavailable',
  stopped: 'unavailable',
};

const spoken: Record<NamedBy, string> = {
  idempotency_key: 'Idempotency-Key',
  payment_identifier: 'payment identifier',
};

const usedAs = (settled: boolean) => (settled ? 'claim_already_settled' : 'payment_already_used');
const RETRY = { retry_after_seconds: 2 } as const;
const named = (transaction: string | null | undefined) => ({ transaction: transaction || undefined });

type Offer = (paid: AnyPaid, reason: ChallengeReason) => JsonObject;

/** One row for each outcome: how much of the money may have moved, and the response. */
const rows: { readonly [K in CallOutcome['kind']]: (outcome: Extract<CallOutcome, { kind: K }>, offer: Offer) => Row } =
  {
    // An unknown API key has its own code, with the same offer.
    unpaid({ paid, unknown_key }, offer) {
      const code = unknown_key ? 'unknown_api_key' : 'payment_required';
      const reason = unknown_key ? ({ code, detail: errors.unknown_api_key[1] } as const) : null;
      return { movement: 'nothing_moved', code, facts: offer(paid, reason) };
    },
    second_due({ paid, payment_ref }, offer) {
      const detail = `The first payment is settled (${payment_ref}). This offer is for the second and last one.`;
      const reason = { code: 'payment_required', detail } as const;
      return { movement: 'nothing_moved', code: reason.code, detail, facts: offer(paid, reason) };
    },
    // The payment may be corrected or another one made.
    rejected: ({ paid, reason }, offer) =>
      nothing('payment_rejected', offer(paid, { code: 'payment_rejected', detail: reason }), reason),
    // The response states neither that the payment is usable, which it is, nor that nothing was charged, because it may have bought
    // something before.
    no_turn: ({ retry_after_seconds }) => ({
      movement: 'may_have_moved',
      code: 'unavailable',
      detail: 'Too many payments of contract wallets are waiting for verification. Send this payment again.',
      facts: { retry_after_seconds },
    }),
    resting: ({ seconds }) => nothing('rate_limited', { retry_after_seconds: seconds }),
    chain_unreachable: () => nothing('chain_unavailable'),
    not_sent: ({ reason }) => nothing(unsent[reason]),
    unknown: ({ transaction }) => ({
      movement: 'may_have_moved',
      code: 'settlement_pending',
      facts: named(transaction),
    }),
    unknown_here: () => ({ movement: 'may_have_moved', code: 'settlement_pending', facts: RETRY }),
    pending: ({ task_id, transaction }) => ({
      movement: 'may_have_moved',
      code: 'settlement_pending',
      facts: { ...RETRY, task_id, ...named(transaction) },
    }),
    in_flight: ({ task_id }) => ({
      movement: 'may_have_moved',
      code: 'payment_in_flight',
      facts: { retry_after_seconds: 1, task_id },
    }),
    foreign: ({ settled }) => ({ movement: 'moved', code: usedAs(settled) }),
    doubtful: ({ proof }) => ({
      movement: 'may_have_moved',
      code: 'payer_proof_required',
      facts: { payer_proof: proof },
    }),
    lapsed: () => nothing('payment_lapsed'),
    refused_by_session: ({ refusal }) => {
      switch (refusal.kind) {
        case 'cap_exceeded':
          return nothing('session_cap_exceeded', { delegation_hash: refusal.delegation_hash });
        case 'not_active':
          return nothing('session_not_active', { session_status: refusal.status });
        case 'siblings_full':
          return nothing('delegation_invalid', {}, `The grant is not accepted: ${SIBLINGS_FULL}.`);
      }
    },
    slot_taken: ({ paid: { slot_taken, slot_retry_seconds } }) => ({
      movement: 'nothing_moved',
      code: slot_taken ?? 'duplicate_ref',
      facts: { ...(slot_retry_seconds !== undefined && { retry_after_seconds: slot_retry_seconds }) },
    }),
    // The caller sent another payment than the first under this name, and may not have the first.
    name_in_flight: ({ by, task_id }) => ({
      movement: 'may_have_moved',
      code: 'payment_in_flight',
      detail: `A call with this ${spoken[by]} is in progress. Send the same request with the same ${spoken[by]} again.`,
      facts: { retry_after_seconds: 1, task_id },
    }),
    name_foreign: ({ by }) =>
      nothing(by === 'idempotency_key' ? 'idempotency_key_conflict' : 'payment_identifier_conflict'),
    key_name_in_flight: () => nothing('idempotency_key_in_flight', { retry_after_seconds: 1 }),
    key_names_full: () =>
      nothing(
        'rate_limited',
        { retry_after_seconds: 600 },
        'Too many answers are stored for the Idempotency-Keys of this API key. Send no Idempotency-Key, or try again later.',
      ),
    key_calls_full: ({ calls_max }) =>
      nothing(
        'rate_limited',
        { retry_after_seconds: 1 },
        `${calls_max} calls with this API key are in progress. Wait until one of them ends.`,
      ),
    not_taken: ({ unsure }) => (unsure ? { movement: 'may_have_moved', code: 'unavailable' } : nothing('unavailable')),
    wrong_session: () => ({ movement: 'nothing_moved', code: 'forbidden' }),
    // The payment is used. A caller who learned only that access is denied might sign another one.
    not_possessor: () => ({ movement: 'moved', code: 'forbidden', facts: { charged: true } }),
    answer_gone: ({ verify_url }) => ({ movement: 'moved', code: 'answer_gone', facts: { verify_url } }),
    kill_switch_resend: ({ task_id, verify_url }) => ({
      movement: 'moved',
      code: 'kill_switch_resend',
      facts: { charged: true, task_id, verify_url },
    }),
    blocked: ({ code, document }) => ({ movement: 'nothing_moved', code, facts: document }),
    blocked_too_often: ({ too_often: { policy_code, retry_after_seconds }, last_refusal_url }) =>
      nothing('blocked_too_often', { policy_code, last_refusal_url, retry_after_seconds }),
    canceled: ({ task_id }) => nothing('call_canceled', { task_id }),
    broke_off: ({ away, task_id }) => nothing(away ? 'unavailable' : 'internal', { ...(task_id && { task_id }) }),
    // The sentence of the refusal is replaced, because it may state that nothing was charged.
    still_owed({ refusal, final, task_id, verify_url }) {
      const { code: _, status: _status, ...facts } = refusal.extensions;
      return {
        movement: 'moved',
        code: unpaying(refusal.code),
        detail: final ? `${refusal.message} ${REFUSED_AGAIN}` : STILL_OWED,
        facts: { ...(facts as OpenFacts), charged: true, task_id, verify_url },
      };
    },
  };

/** A rerun is free, so a code that asks for a payment is an internal error. */
const unpaying = (code: ErrorCode) => (errors[code][0] === 402 ? 'internal' : (code as Exclude<ErrorCode, Pays>));

function rowOf(outcome: CallOutcome, offer: Offer): Row {
  return (rows[outcome.kind] as (outcome: CallOutcome, offer: Offer) => Row)(outcome, offer);
}

/** How much of the payer's money may have moved after such an outcome. */
export function movementOf(outcome: CallOutcome): Movement {
  return rowOf(outcome, () => ({})).movement;
}

/** Returns the response to an outcome; `cause` is only logged. */
export type Respond = (outcome: CallOutcome, cause?: unknown) => Refusal;

/**
 * Returns the function that turns an outcome into a response: code, status, facts and sentence. It is the only place for that. The offer is
 * that of /graphql. A REST endpoint makes its own offer, which names the endpoint, unless the price depends on the request.
 */
export function openRespond(challenges: Challenges, base_url: string): Respond {
  const offer: Offer = (paid, reason) => {
    const { price_atomic: amount_atomic, networks, pay_to, validity_seconds_max, order, field } = paid;
    const description = paid.offered_as ?? field;
    if (amount_atomic === null) throw new Error(`${field} is offered and has no price`);
    const asked = { amount_atomic, networks, pay_to, validity_seconds_max };
    const stamp = order === 'stamp' || order === 'leg';
    const resource = paid.resource ?? `${base_url}/graphql`;
    const price = { ...asked, stamp, resource, description };
    const { headers, body } = challenges(price, reason);
    return { answer_headers: headers, x402: body, ...(paid.resource !== undefined && { offered_here: true }) };
  };
  return (outcome, cause) => {
    const { code, detail, facts = {} } = rowOf(outcome, offer);
    const said = Object.entries(facts).filter(([, fact]) => fact !== undefined);
    return new Refusal(code, { ...(detail !== undefined && { detail }), facts: Object.fromEntries(said), cause });
  };
}
