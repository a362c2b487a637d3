import type { JsonObject } from '../../schema/canonical-json.ts';
import type { TaskId } from '../../schema/ids.ts';
import type { Random } from '../../subgraphs/clock.ts';
import type { Context } from '../../subgraphs/context.ts';
import { type ClaimRequest, type Lease } from '../../subgraphs/receipt/claim/claim.ts';
import { identifierSlot } from '../../subgraphs/receipt/claim/identifier.ts';
import { isRouted } from '../../subgraphs/receipt/inference/catalogue.ts';
import { isVendorBlind } from '../../subgraphs/receipt/inference/vendor-blind.ts';
import { type AnyPaid, orders, type Payer } from '../../subgraphs/sale.ts';
import type { Vault } from '../../subgraphs/vault.ts';
import { type Authorization, claimKey, type Payment, paymentId, paymentToJson } from '../rails/payment.ts';
import type { Late } from '../rails/verify.ts';
import type { Claiming } from '../record/queues.ts';
import type { Landing } from '../record/recording.ts';
import type { PayTo } from '../x402/offer.ts';
import type { Hears } from './answer-by-outcome.ts';
import { type Marks, namesOf } from './call-names.ts';

/** A payment that our own checks found right. A signature that is no key's is not proven by them: code has to be asked. */
export type Authorized<P extends Payment = Payment> = P & {
  readonly x402_version: 1 | 2;
  /** Why it is settled no more, with x402's word for it; what it has bought already is owed all the same. */
  readonly late: { readonly code: Late; readonly reason: string } | null;
};

/** A paid request whose payment has been found good, before anybody holds it. */
export interface Presented<P extends Payment = Payment> {
  readonly paid: AnyPaid;
  readonly args: JsonObject;
  readonly payment: Authorized<P>;
  readonly request_hash: string;
  /** What the payer calls this purchase, where they name it. */
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

export type ToClaim = Presented & Pick<ClaimRequest, 'task_id' | 'means'>;

export interface RequestParts extends LandingParts {
  readonly vault: Vault;
  readonly pay_to: PayTo;
  /** This process, as its lease and its claims name it. */
  readonly owner: string;
  readonly hears: Hears;
}

/** Makes claims with all that reconcile would need to finish them alone, but for the book that is looked for as each is made. */
export function openClaimRequests(parts: RequestParts) {
  const { vault, pay_to, owner, hears } = parts;
  return async (presented: ToClaim, context: Context): Promise<Claiming> => {
    const { paid, args, payment, request_hash, task_id, means, is_payers = false } = presented;
    const { authorization } = payment;
    requireOurs(pay_to, authorization);
    const claim_key = claimKey(authorization);
    if (context.principal.possession.kind === 'wrong') throw hears({ kind: 'wrong_session' });
    const book = await landsOn(presented, context);
    const request = {
      claim_key,
      field: paid.field,
      request_hash,
      task_id,
      lease_owner: owner,
      network: authorization.network,
      payer: authorization.payer,
      payment_id: paymentId(authorization),
      amount_atomic: paid.price_atomic,
      valid_before: authorization.valid_before_seconds,
      authorization: paymentToJson(payment),
      means,
      landing: landingOf(parts, paid, args, context),
      request_box: requestBox(vault, presented, claim_key),
      identifier: presented.identifier,
      is_payers,
      slots: slotsOf(presented),
    };
    return { request, book, reserves: orders[paid.order].reserves, model: paid.model?.(args) ?? null };
  };
}

/** The last word on it: whatever let a payment to another come so far, it is never claimed, and so never sent. */
function requireOurs(ours: PayTo, { network, pay_to }: Authorization): void {
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
function requestBox(vault: Vault, { paid, args }: Presented, claim_key: string): Buffer {
  return paid.order === 'stamp' ? vault.seal(JSON.stringify(args), requestLabel(claim_key)) : MARK;
}

/** It says nothing of anybody, so it need not be sealed. */
const MARK = Buffer.of(0);

/** The session's book, or else the payer's: decided before the money moves, and kept on the claim. */
async function landsOn({ paid, args, payment }: Presented, context: Context): Promise<Claiming['book']> {
  const { possession } = context.principal;
  if (paid.book) return paid.book(args, payerOf(payment), context);
  return possession.kind === 'proven' ? possession.agent_id : 'payers';
}

export interface LandingParts {
  readonly marks: Marks;
  readonly random: Random;
}

export function landingOf({ marks, random }: LandingParts, paid: AnyPaid, args: JsonObject, context: Context): Landing {
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
    paid_from_mark: marks.address(context),
    router_key_mark: marks.routerKey(paid, args, context),
    idempotency_mark: marks.idempotencyKey(context),
    vendor_blind: !stamped && isVendorBlind(context.principal, isRouted(paid.model?.(args) ?? '')),
    request_salt: Buffer.from(random.bytes(16)).toString('hex'),
  };
}
