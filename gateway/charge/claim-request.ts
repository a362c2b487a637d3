import type { JsonObject } from '../../schema/canonical-json.ts';
import { Refusal } from '../../schema/errors.ts';
import type { TaskId } from '../../schema/ids.ts';
import type { Context } from '../../subgraphs/context.ts';
import { type ClaimRequest, type Lease } from '../../subgraphs/receipt/claim/claim.ts';
import { identifierSlot, nameOfSlot } from '../../subgraphs/receipt/claim/identifier.ts';
import { isRouted } from '../../subgraphs/receipt/inference/catalogue.ts';
import { isVendorBlind } from '../../subgraphs/receipt/inference/vendor-blind.ts';
import { orders, type Payer } from '../../subgraphs/sale.ts';
import { type Authorization, claimKey, type Payment, paymentId, paymentToJson } from '../rails/payment.ts';
import type { Claiming } from '../record/queues.ts';
import type { AnyPaid, Landing } from '../record/recorder.ts';
import type { Authorized } from './authorized.ts';
import { idempotencyMark, nameInFlight, namesOf } from './call-names.ts';
import type { WithinMeans } from './funds.ts';
import type { Till } from './till.ts';

/** A paid request whose payment has been found good, before anybody holds it. */
export interface Presented<P extends Payment = Payment> {
  readonly paid: AnyPaid;
  readonly args: JsonObject;
  readonly payment: Authorized<P>;
  readonly request_hash: string;
  /** What the payer calls this purchase, where he names it. */
  readonly identifier: string | null;
  /** Of the Idempotency-Key beside it, where one came. */
  readonly idempotency_mark: string | null;
  /** Of the router key under which it asks to be answered; null where it does not ask the router. */
  readonly router_key_mark: string | null;
  /** Whoever shows it has proven to be its payer, by more than is in its calldata. */
  readonly is_payers?: boolean;
}

/** The same, held by this process under a lease. */
export interface Claimed extends Presented {
  readonly claim: ClaimRequest;
  readonly lease: Lease;
  readonly task_id: TaskId;
}

export const requestLabel = (claim_key: string): string => `request:${claim_key}`;

export function payerOf({ authorization }: Authorized): Payer {
  return { network: authorization.network, wallet: authorization.payer };
}

/** The claim with all that reconcile would need to finish it alone, but for the book that is looked for as it is made. */
export async function claimingOf(
  till: Till,
  presented: Presented & Pick<ClaimRequest, 'task_id' | 'means'>,
  context: Context,
): Promise<Claiming> {
  const { paid, args, payment, request_hash, task_id, means, is_payers = false } = presented;
  const { authorization } = payment;
  requireOurs(till, authorization);
  const payer = payerOf(payment);
  const claim_key = claimKey(authorization);
  const book = await landsOn(presented, payer, context);
  const request = {
    claim_key,
    field: paid.field,
    request_hash,
    task_id,
    lease_owner: till.owner,
    network: authorization.network,
    payer: authorization.payer,
    payment_id: paymentId(authorization),
    amount_atomic: paid.price_atomic,
    valid_before: authorization.valid_before_seconds,
    authorization: paymentToJson(payment),
    means,
    landing: landingOf(till, paid, args, context),
    request_box: requestBox(till, presented, claim_key),
    identifier: presented.identifier,
    is_payers,
    slots: slotsOf(presented),
  };
  return { request, book, reserves: orders[paid.order].reserves, model: paid.model?.(args) ?? null };
}

/** The last word on it: whatever let a payment to another come so far, it is never claimed, and so never sent. */
function requireOurs({ pay_to: ours }: Till, { network, pay_to }: Authorization): void {
  const spelt = (address: string) => (network === 'base' ? address.toLowerCase() : address);
  if (spelt(pay_to) !== spelt(ours[network] ?? '')) throw new Error('a payment to another payee was to be claimed');
}

function slotsOf(presented: Presented): readonly string[] {
  const { paid, args, payment } = presented;
  return [...(paid.slots?.(args, payerOf(payment)) ?? []), ...namesOf(presented).map(identifierSlot)];
}

/**
 * Reconcile reads a stamp's request, and no other's: of work it keeps the mark that a resend may still be worked for. A
 * claim costs no money yet, and what one may fill the disk with for a month must not be of the caller's size.
 */
function requestBox({ vault }: Till, { paid, args }: Presented, claim_key: string): Buffer {
  return paid.order === 'stamp' ? vault.seal(JSON.stringify(args), requestLabel(claim_key)) : MARK;
}

/** It says nothing of anybody, so it need not be sealed. */
const MARK = Buffer.of(0);

/** The session's book, or else the payer's: decided before the money moves, and kept on the claim. */
async function landsOn({ paid, args }: Presented, payer: Payer, context: Context): Promise<Claiming['book']> {
  const { possession } = context.principal;
  if (possession.kind === 'wrong') throw new Refusal('forbidden');
  if (paid.book) return paid.book(args, payer, context);
  return possession.kind === 'proven' ? possession.agent_id : 'payers';
}

export function landingOf(till: Till, paid: AnyPaid, args: JsonObject, context: Context): Landing {
  const { api_key, possession } = context.principal;
  const stamped = paid.order === 'stamp';
  const route = stamped ? paid.route : { model: null, hub: null };
  return {
    job_kind: paid.job_kind,
    intent_id: null,
    attempt_index: null,
    ...paid.intent?.(args),
    api_key_hash: 'hash' in api_key ? api_key.hash : null,
    model: route.model,
    hub: route.hub,
    output_sha256: null,
    omission_rule: null,
    possessed_by: possession.kind === 'proven' ? possession.agent_id : null,
    paid_from_mark: addressMark(till, context),
    router_key_mark: routerKeyMark(till, paid, args, context),
    idempotency_mark: idempotencyMark(till, context),
    vendor_blind: !stamped && isVendorBlind(context.principal, isRouted(paid.model?.(args) ?? '')),
    request_salt: Buffer.from(till.random.bytes(16)).toString('hex'),
  };
}

/** Addresses are not kept, only what they are known again by. */
export function addressMark({ vault }: Pick<Till, 'vault'>, { principal }: Pick<Context, 'principal'>): string {
  const mark = marks.get(principal) ?? vault.mark(principal.address, 'address');
  marks.set(principal, mark);
  return mark;
}

/** Several rules of one call know its address by that. */
const marks = new WeakMap<Context['principal'], string>();

/** Kept in place of the key: enough to know it again. */
export function routerKeyMark(
  { vault }: Pick<Till, 'vault'>,
  paid: AnyPaid,
  args: JsonObject,
  { router_key }: Pick<Context, 'router_key'>,
): string | null {
  return router_key && isRouted(paid.model?.(args) ?? '') ? vault.mark(router_key.reveal(), 'router_key') : null;
}

/** A payment that is somebody's already: each way of it has its own code, and none of them charges again. */
export function refusedClaim(
  outcome: Exclude<WithinMeans, { kind: 'claimed' | 'replayed' | 'blocked' | 'blocked_too_often' }>,
  paid: AnyPaid,
): Refusal {
  switch (outcome.kind) {
    case 'foreign':
      return new Refusal('payment_already_used');
    case 'doubtful':
      return new Refusal('payer_proof_required');
    case 'lapsed':
      return new Refusal('payment_lapsed', { facts: { charged: false } });
    case 'in_flight':
      return new Refusal('payment_in_flight', { facts: { retry_after_seconds: 1, task_id: outcome.task_id } });
    case 'pending':
      return new Refusal('settlement_pending', { facts: { retry_after_seconds: 2, task_id: outcome.task_id } });
    case 'slot_taken': {
      const by = nameOfSlot(outcome.slot);
      return by === null ? new Refusal(paid.slot_taken ?? 'duplicate_ref') : nameInFlight(by);
    }
  }
}
