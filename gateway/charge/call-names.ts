import { LRUCache } from 'lru-cache';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { idempotencyKeyIn } from '../../schema/idempotency-key.ts';
import type { Context } from '../../subgraphs/context.ts';
import { type NamedPayment } from '../../subgraphs/receipt/claim/identifier.ts';
import { isRouted } from '../../subgraphs/receipt/inference/catalogue.ts';
import type { RequestedCall } from '../../subgraphs/requested-call.ts';
import type { AnyPaid } from '../../subgraphs/sale.ts';
import type { Vault } from '../../subgraphs/vault.ts';
import type { Late } from '../rails/verify.ts';

/** The key that came in the header. @throws invalid_request before anything is charged for it */
export function idempotencyKeyOf({ idempotency_key }: Pick<Context, 'idempotency_key'>): string | null {
  return idempotency_key === null ? null : idempotencyKeyIn(idempotency_key);
}

/**
 * By what a purchase is known again; nothing where it is paid to another: whoever holds that payment need not be its payer. Nor
 * where two payments are made for one request: one name cannot stand for both, and what they buy stands once as it is.
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
  readonly late: { readonly code: Late } | null;
}

/** By what a call and its caller are known again: marks that say nothing of what they were made from, which is not kept. */
export interface CallMarks {
  /** Of the address that the call comes from. */
  readonly address_mark: string;
  /** Of the router key under which it is to be answered; null where it does not ask the router. */
  readonly router_key_mark: string | null;
  /** Of its Idempotency-Key, if it has one: that is its sender's word, and may say more than they would have stored. */
  readonly idempotency_mark: string | null;
}

/** What a call asks for, and by what it is known again. */
export interface Asked extends CallMarks {
  readonly paid: AnyPaid;
  readonly args: JsonObject;
  readonly call: RequestedCall;
}

const ADDRESSES_REMEMBERED_MAX = 1_000;

/** `model`: as the request names it. @throws invalid_request where the Idempotency-Key is none */
export type MarksOf = (
  model: string | null,
  context: Pick<Context, 'principal' | 'router_key' | 'idempotency_key'>,
) => CallMarks;

export function openMarks({ mark }: Pick<Vault, 'mark'>): MarksOf {
  // Most calls come from where one came from before: an HMAC costs as much as all else that is read off a call.
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
