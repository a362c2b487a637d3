import { LRUCache } from 'lru-cache';
import { canonicalHash, type JsonObject } from '../../schema/canonical-json.ts';
import { idempotencyKeyIn } from '../../schema/idempotency-key.ts';
import { type Context } from '../../subgraphs/context.ts';
import { type Database } from '../../subgraphs/database.ts';
import { isFormerClaim } from '../../subgraphs/receipt/claim/former-request.ts';
import { identifierSlot, type NamedPayment } from '../../subgraphs/receipt/claim/identifier.ts';
import { isRouted } from '../../subgraphs/receipt/inference/catalogue.ts';
import { type RequestedCall } from '../../subgraphs/requested-call.ts';
import { type AnyPaid } from '../../subgraphs/sale.ts';
import { type Vault } from '../../subgraphs/vault.ts';
import { type TermsMismatch } from '../rails/verify.ts';

/**
 * The hash to which a payment is bound: of the field, its canonical arguments and, with a grant, the id of its session, which is a digest
 * of all bytes of the grant. The same payment with another grant is for another request.
 */
export function paidRequestHash(
  field: string,
  args: JsonObject,
  delegation: { readonly delegation_hash: string } | string | null = null,
): string {
  const delegation_hash = typeof delegation === 'string' ? delegation : delegation?.delegation_hash;
  return canonicalHash(delegation_hash === undefined ? { field, args } : { field, args, delegation_hash });
}

/** The value of the Idempotency-Key header. Null without one. @throws invalid_request before anything is charged */
export function idempotencyKeyOf({ idempotency_key }: Pick<Context, 'idempotency_key'>): string | null {
  return idempotency_key === null ? null : idempotencyKeyIn(idempotency_key);
}

/**
 * Names of a purchase. A payment to another payee has none, because its sender need not be the payer. A call with two payments has none
 * either: one name cannot represent both, and its effect exists once anyway.
 */
export function namesOf(
  paid: AnyPaid,
  { authorization: { network, payer }, late }: Purchased,
  identifier: string | null,
  idempotency_mark: string | null,
): NamedPayment[] {
  const is_of_two = paid.order === 'leg' || (paid.order === 'stamp' && paid.after_first);
  if (is_of_two || late?.code === 'wrong_payee') return [];
  return [
    ...(identifier === null ? [] : [{ network, payer, identifier }]),
    ...(idempotency_mark === null
      ? []
      : [{ network, payer, identifier: idempotency_mark, by: 'idempotency_key' as const }]),
  ];
}

interface Purchased {
  readonly authorization: Pick<NamedPayment, 'network' | 'payer'>;
  readonly late: { readonly code: TermsMismatch } | null;
}

/** Keyed marks of a call and its caller. They reveal nothing of the text from which they are made, which is not stored. */
export interface CallMarks {
  /** Mark of the client's address. */
  readonly address_mark: string;
  /** Mark of the router key. Null if the router is not asked. */
  readonly router_key_mark: string | null;
  /**
   * Mark of the Idempotency-Key. Null without one. The key is not stored, because its text may reveal more than its sender wants stored.
   */
  readonly idempotency_mark: string | null;
}

/** The requested sale, its arguments, and the marks of the call. */
export interface RequestedSale extends CallMarks {
  readonly paid: AnyPaid;
  readonly args: JsonObject;
  readonly call: RequestedCall;
}

const ADDRESSES_REMEMBERED_MAX = 1_000;

/** Makes the marks of a call. `model` is the name in the request. @throws invalid_request if the Idempotency-Key is invalid */
export type MarksOf = (
  model: string | null,
  context: Pick<Context, 'principal' | 'router_key' | 'idempotency_key'>,
) => CallMarks;

export function openMarks({ mark }: Pick<Vault, 'mark'>): MarksOf {
  // Most calls come from a known address, and an HMAC takes as long as everything else that is read from a call.
  const marked = new LRUCache<string, string>({
    max: ADDRESSES_REMEMBERED_MAX,
    memoMethod: address => mark(address, 'address'),
  });
  return (model, context) => {
    const { principal, router_key } = context;
    const key = idempotencyKeyOf(context);
    return {
      address_mark: marked.memo(principal.address),
      router_key_mark: router_key && isRouted(model ?? '') ? mark(router_key.reveal(), 'router_key') : null,
      idempotency_mark: key === null ? null : mark(key, 'idempotency_key'),
    };
  };
}

interface Paying {
  readonly paid: AnyPaid;
  readonly args: JsonObject;
  readonly delegation: { readonly delegation_hash: string } | null;
  readonly claim_key: string;
  readonly names: readonly NamedPayment[];
}

/** The request to which a payment is bound and for which work is done. The receipt names this request only. */
interface BoundRequest {
  readonly args: JsonObject;
  readonly request_hash: string;
  readonly is_former: boolean;
}

/**
 * Returns the request that was sent. If the previous version claimed the payment for it, returns the request as that version understood it,
 * because the purchase is for that request. A payment that was claimed later for a request without some member is never used for one with
 * it.
 */
export async function boundRequest(
  database: Pick<Database, 'query'>,
  { paid, args, delegation, claim_key, names }: Paying,
): Promise<BoundRequest> {
  const whole = { args, request_hash: paidRequestHash(paid.field, args, delegation), is_former: false };
  const former = paid.former_args?.(args) ?? null;
  if (former === null) return whole;
  const request_hash = paidRequestHash(paid.field, former, delegation);
  const slots = names.map(identifierSlot);
  const is_former = await isFormerClaim(database, { request_hash, claim_key, slots });
  return is_former ? { args: former, request_hash, is_former } : whole;
}
