import type { JsonObject } from '../../schema/canonical-json.ts';
import { Refusal } from '../../schema/errors.ts';
import { readIdempotencyKey } from '../../schema/idempotency-key.ts';
import type { Context, PresentedPayment } from '../../subgraphs/context.ts';
import { type NamedPayment } from '../../subgraphs/receipt/claim/identifier.ts';
import { isRouted } from '../../subgraphs/receipt/inference/catalogue.ts';
import type { AnyPaid } from '../../subgraphs/sale.ts';
import type { Vault } from '../../subgraphs/vault.ts';
import type { Late } from '../rails/verify.ts';
import { readEnvelope } from '../x402/envelope.ts';

/** What the payment's client calls this purchase. A stamp takes no name: its effect stands once as it is. */
export function identifierOf({ order }: AnyPaid, payment: PresentedPayment | null): string | null {
  if (order === 'stamp' || payment === null) return null;
  return readEnvelope(payment.x402_version, payment.envelope)?.identifier ?? null;
}

/** The key that came in the header. @throws invalid_request before anything is charged for it */
export function idempotencyKeyOf({ idempotency_key }: Pick<Context, 'idempotency_key'>): string | null {
  if (idempotency_key === null) return null;
  const key = readIdempotencyKey(idempotency_key);
  if (key !== null) return key;
  const detail = 'Idempotency-Key: not 1 to 255 visible ASCII characters.';
  throw new Refusal('invalid_request', { param: 'Idempotency-Key', detail, facts: { charged: false } });
}

/** A purchase, as far as its names say which it is. */
interface Purchase {
  readonly payment: {
    readonly authorization: Pick<NamedPayment, 'network' | 'payer'>;
    readonly late: { readonly code: Late } | null;
  };
  readonly identifier: string | null;
  readonly idempotency_mark: string | null;
}

/** By what this purchase is known again; nothing where it is paid to another: whoever holds that payment need not be its payer. */
export function namesOf({ payment: { authorization, late }, identifier, idempotency_mark }: Purchase): NamedPayment[] {
  if (late?.code === 'wrong_payee') return [];
  const { network, payer } = authorization;
  return [
    ...(identifier === null ? [] : [{ network, payer, identifier }]),
    ...(idempotency_mark === null
      ? []
      : [{ network, payer, identifier: idempotency_mark, by: 'idempotency_key' as const }]),
  ];
}

/** By what callers are known again: marks that say nothing of what they were made from, which is not kept. */
export interface Marks {
  /** Of the address that the call comes from. */
  address(context: Pick<Context, 'principal'>): string;
  /** Of the router key under which it is to be answered; null where it does not ask the router. */
  routerKey(paid: AnyPaid, args: JsonObject, context: Pick<Context, 'router_key'>): string | null;
  /** Of its Idempotency-Key: that is its sender's word, and may say more than they would have stored. */
  idempotencyKey(context: Pick<Context, 'idempotency_key'>): string | null;
}

export function openMarks({ mark }: Pick<Vault, 'mark'>): Marks {
  // Several rules of one call know its address by that.
  const addresses = new WeakMap<Context['principal'], string>();
  return {
    address({ principal }) {
      const known = addresses.get(principal) ?? mark(principal.address, 'address');
      addresses.set(principal, known);
      return known;
    },
    routerKey: (paid, args, { router_key }) =>
      router_key && isRouted(paid.model?.(args) ?? '') ? mark(router_key.reveal(), 'router_key') : null,
    idempotencyKey(context) {
      const key = idempotencyKeyOf(context);
      return key === null ? null : mark(key, 'idempotency_key');
    },
  };
}
