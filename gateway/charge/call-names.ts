import type { JsonObject } from '../../schema/canonical-json.ts';
import { Refusal } from '../../schema/errors.ts';
import { readIdempotencyKey } from '../../schema/idempotency-key.ts';
import type { Context, PresentedPayment } from '../../subgraphs/context.ts';
import { type NamedPayment } from '../../subgraphs/receipt/claim/identifier.ts';
import type { AnyPaid } from '../record/recorder.ts';
import { readEnvelope } from '../x402/envelope.ts';
import type { Presented } from './claim-request.ts';
import type { Till } from './till.ts';

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

/** Kept in its place: it is its sender's word, and may say more than he would have stored. */
export function idempotencyMark({ vault }: Pick<Till, 'vault'>, context: Context): string | null {
  const key = idempotencyKeyOf(context);
  return key === null ? null : vault.mark(key, 'idempotency_key');
}

/** By what this purchase is known again; nothing where it is paid to another: whoever holds that payment need not be its payer. */
export function namesOf({ payment: { authorization, late }, identifier, idempotency_mark }: Presented): NamedPayment[] {
  if (late?.code === 'wrong_payee') return [];
  const { network, payer } = authorization;
  return [
    ...(identifier === null ? [] : [{ network, payer, identifier }]),
    ...(idempotency_mark === null
      ? []
      : [{ network, payer, identifier: idempotency_mark, by: 'idempotency_key' as const }]),
  ];
}

const spoken = { idempotency_key: 'Idempotency-Key', payment_identifier: 'payment identifier' } as const;

/** To whoever comes under the name with another payment than the first: that one he need not have. */
export function nameInFlight(by: keyof typeof spoken, facts: JsonObject = {}): Refusal {
  const name = spoken[by];
  const detail = `A payment under this ${name} is being worked on; send the same request under the same ${name}.`;
  return new Refusal('payment_in_flight', { detail, facts: { retry_after_seconds: 1, ...facts } });
}
