import type { PresentedPayment } from '../../../subgraphs/context.ts';
import type { NamedPayment } from '../../../subgraphs/receipt/index.ts';
import type { Presented } from '../claimed.ts';
import { readEnvelope } from '../envelope.ts';
import type { AnyPaid } from '../record.ts';

/** What the payment's client calls this purchase. A stamp takes no name: its effect stands once as it is. */
export function identifierOf({ order }: AnyPaid, payment: PresentedPayment | null): string | null {
  if (order === 'stamp' || payment === null) return null;
  return readEnvelope(payment.x402_version, payment.envelope)?.identifier ?? null;
}

/** Null where the purchase has no name, or is paid to another: whoever holds that payment need not be its payer. */
export function nameOf({ payment: { authorization, late }, identifier }: Presented): NamedPayment | null {
  if (identifier === null || late?.code === 'wrong_payee') return null;
  return { network: authorization.network, payer: authorization.payer, identifier };
}
