import { atomicAmount } from '../../schema/amount.ts';
import { Refusal } from '../../schema/errors.ts';
import type { TaskId } from '../../schema/ids.ts';
import { approvalLimits } from '../../schema/limits.ts';
import { NOTE_HEADER, readNote } from '../../schema/session/note-header.ts';
import { requestText } from '../../schema/session/request-text.ts';
import { sealCallText } from '../../subgraphs/book/approval/call-text.ts';
import type { Random } from '../../subgraphs/clock.ts';
import type { Context } from '../../subgraphs/context.ts';
import { type ClaimRequest, type Lease } from '../../subgraphs/receipt/claim/claim.ts';
import { identifierSlot } from '../../subgraphs/receipt/claim/identifier.ts';
import { proofSlots } from '../../subgraphs/receipt/claim/slots.ts';
import { isRouted } from '../../subgraphs/receipt/inference/catalogue.ts';
import { isVendorBlind } from '../../subgraphs/receipt/inference/vendor-blind.ts';
import type { AnyPaid, WorkBounds } from '../../subgraphs/sale.ts';
import type { ClaimSession } from '../../subgraphs/session/delegation/hold.ts';
import type { Vault } from '../../subgraphs/vault.ts';
import { type Authorization, paymentId, paymentToJson } from '../rails/payment.ts';
import type { PayTo } from '../x402/offer.ts';
import type { Hears } from './answer-by-outcome.ts';
import type { Asked } from './call-names.ts';
import type { CallLanding } from './record/facts.ts';
import type { Claiming } from './record/place-claims.ts';
import type { Presented } from './verify-payment.ts';

/** A paid request, held by this process under a lease. */
export interface Claimed extends Presented {
  readonly claim: ClaimRequest;
  readonly lease: Lease;
  readonly task_id: TaskId;
  /** As the book allowed when it let the call pass. */
  readonly allowed_models: WorkBounds['allowed_models'];
}

export const requestLabel = (claim_key: string): string => `request:${claim_key}`;

export type ToClaim = Presented & Pick<ClaimRequest, 'task_id' | 'means'>;

export interface RequestParts {
  readonly random: Random;
  readonly vault: Vault;
  readonly pay_to: PayTo;
  /** Owner name of this process in leases and claims. */
  readonly owner: string;
  readonly hears: Hears;
}

/** Makes claims with all that reconcile needs to finish them alone, except for the book, which is looked up with each claim. */
export function openClaimRequests(parts: RequestParts) {
  const { vault, pay_to, owner, hears } = parts;
  return async (presented: ToClaim, context: Context): Promise<Claiming> => {
    const { paid, payment, claim_key, request_hash, is_former, task_id, means, is_payers = false } = presented;
    const { authorization } = payment;
    requirePayee(pay_to, paid, authorization);
    if (context.principal.possession.kind === 'wrong') throw hears({ kind: 'wrong_session' });
    const book = await landsOn(presented, context);
    const note = noteOf(context);
    const request = {
      claim_key,
      field: paid.field,
      request_hash,
      is_former,
      task_id,
      lease_owner: owner,
      network: authorization.network,
      payer: authorization.payer,
      payment_id: paymentId(authorization),
      amount_atomic: authorization.amount_atomic,
      valid_before: authorization.valid_before_seconds,
      authorization: paymentToJson(payment),
      means,
      landing: { ...landingOf(parts.random, presented, context), ...delegationOf(presented) },
      request_box: requestBox(vault, presented),
      identifier: presented.identifier,
      is_payers,
      slots: [
        ...slotsOf(presented),
        ...(isAfterFirst(paid) ? [] : proofSlots(context.principal.possession, isStamped(paid))),
      ],
    };
    const holds_atomic = paid.reserves ? (paid.reserved_atomic ?? authorization.amount_atomic) : NOTHING;
    const { under = null } = presented;
    return {
      request,
      book,
      holds_atomic,
      call: presented.call,
      sealText: approval_id => sealCallText(vault, approval_id, { ...requestText(presented.args), note }),
      ...(under ? { under } : {}),
    };
  };
}

/** @throws invalid_request */
function noteOf({ note }: Context): string | null {
  const read = readNote(note);
  if (read.kind === 'read') return read.note;
  if (read.kind === 'none') return null;
  const detail = `${NOTE_HEADER} must be UTF-8 of at most ${approvalLimits.note_characters_max} characters. Nothing was charged.`;
  throw new Refusal('invalid_request', { param: NOTE_HEADER, detail, facts: { charged: false } });
}

/** The final check: a payment to another payee is never claimed, and so never sent, whatever let it come so far. */
function requirePayee(ours: PayTo, paid: AnyPaid, { network, pay_to, amount_atomic }: Authorization): void {
  const spelt = (address: string) => (network === 'base' ? address.toLowerCase() : address);
  if (spelt(pay_to) !== spelt(paid.pay_to ?? ours[network] ?? ''))
    throw new Error('a payment to another payee was to be claimed');
  if (amount_atomic !== paid.price_atomic) throw new Error('a payment of another amount was to be claimed');
}

function slotsOf(presented: Presented): readonly string[] {
  const { paid, args, payer, names } = presented;
  return [...(paid.slots?.(args, payer) ?? []), ...names.map(identifierSlot)];
}

/**
 * Reconcile reads a stamp's request only; for work it keeps just a mark that a resend may be worked for. A claim costs no money
 * yet, so its stored size must not depend on the caller.
 */
function requestBox(vault: Vault, { paid, args, claim_key }: Presented): Buffer {
  return isStamped(paid) ? vault.seal(JSON.stringify(args), requestLabel(claim_key)) : MARK;
}

/** The record writes a stamp's effect, so whoever finishes it needs the request. */
function isStamped(paid: AnyPaid): paid is Extract<AnyPaid, { order: 'stamp' | 'leg' }> {
  return paid.order === 'stamp' || paid.order === 'leg';
}

function isAfterFirst(paid: AnyPaid): boolean {
  return paid.order === 'stamp' && paid.after_first === true;
}

/** Undefined for a payment without a grant. */
function delegationOf({ under }: Presented): { readonly delegation?: ClaimSession } {
  return under ? { delegation: under.paid_under } : {};
}

const NOTHING = atomicAmount(0n);

/** It identifies nobody, so it need not be sealed. */
const MARK = Buffer.of(0);

/** The session's book, or else the payer's: decided before the money moves, and stored on the claim. */
export async function landsOn({ paid, args, payer }: Presented, context: Context): Promise<Claiming['book']> {
  const { possession } = context.principal;
  if (paid.book) return paid.book(args, payer, context);
  return possession.kind === 'proven' ? possession.agent_id : 'payers';
}

export function landingOf(
  random: Random,
  { paid, call, address_mark, router_key_mark, idempotency_mark }: Asked,
  context: Context,
): CallLanding {
  const { api_key, possession } = context.principal;
  // The graph has the book chosen before anything runs, because a call without a book is checked against no ceilings.
  if (possession.kind === 'several') throw new Error(`${paid.field} was to be charged under no one book of several`);
  const stamped = isStamped(paid);
  const route = stamped ? paid.route : { model: null, hub: null };
  return {
    job_kind: paid.job_kind,
    resource: context.resource ?? `${context.base_url}/graphql`,
    intent_id: call.intent_id,
    attempt_index: call.attempt_index,
    parent_ref: call.parent_ref,
    // Beside a payment a demo key has no effect.
    api_key_hash: 'hash' in api_key && !(api_key.kind === 'demo' && context.payment) ? api_key.hash : null,
    model: route.model,
    hub: route.hub,
    answered_model: null,
    answered_catalogue_model: null,
    output_sha256: null,
    output_covers: null,
    omission_rule: null,
    provider_cogs: null,
    would_block: null,
    possessed_by: possession.kind === 'proven' ? possession.agent_id : null,
    paid_from_mark: address_mark,
    router_key_mark,
    idempotency_mark,
    vendor_blind: !stamped && isVendorBlind(context, isRouted(call.model ?? '')),
    request_salt: Buffer.from(random.bytes(16)).toString('hex'),
  };
}
