import { LRUCache } from 'lru-cache';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { idempotencyKeyIn } from '../../schema/idempotency-key.ts';
import type { Context } from '../../subgraphs/context.ts';
import { type NamedPayment } from '../../subgraphs/receipt/claim/identifier.ts';
import { isRouted } from '../../subgraphs/receipt/inference/catalogue.ts';
import type { RequestedCall } from '../../subgraphs/requested-call.ts';
import type { AnyPaid } from '../../subgraphs/sale.ts';
import type { Vault } from '../../subgraphs/vault.ts';
import type { TermsMismatch } from '../rails/verify.ts';

/** The Idempotency-Key header. @throws invalid_request before anything is charged */
export function idempotencyKeyOf({ idempotency_key }: Pick<Context, 'idempotency_key'>): string | null {
  return idempotency_key === null ? null : idempotencyKeyIn(idempotency_key);
}

/**
 * Names of a purchase. None for payments to others, whose holder need not be the payer, and none if two payments are made for one
 * request, which one name cannot represent and whose effect exists once anyway.
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

/** Keyed marks of a call and its caller, which reveal nothing of their source, which is not stored. */
export interface CallMarks {
  /** Mark of the client's address. */
  readonly address_mark: string;
  /** Mark of the router key; null if the router is not asked. */
  readonly router_key_mark: string | null;
  /**
   * Mark of the Idempotency-Key, which is hashed because its text may reveal more than its sender wants stored; null without one.
   */
  readonly idempotency_mark: string | null;
}

/** What a call asks for, and its marks. */
export interface Asked extends CallMarks {
  readonly paid: AnyPaid;
  readonly args: JsonObject;
  readonly call: RequestedCall;
}

const ADDRESSES_REMEMBERED_MAX = 1_000;

/** `model`: as the request names it. @throws invalid_request if the Idempotency-Key is invalid */
export type MarksOf = (
  model: string | null,
  context: Pick<Context, 'principal' | 'router_key' | 'idempotency_key'>,
) => CallMarks;

export function openMarks({ mark }: Pick<Vault, 'mark'>): MarksOf {
  // Most calls come from a known address, and an HMAC costs as much as all else that is read from a call.
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
