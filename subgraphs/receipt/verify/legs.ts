import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';

/** What of the first leg the payment of the receipt says too, under which name. */
const REPEATED = {
  ref: 'ref',
  transfer_index: 'transfer_index',
  network: 'network',
  asset: 'asset',
  payer: 'payer',
  pay_to: 'pay_to',
  amount: 'settled_amount',
} as const;

/**
 * What is paid for in two signs both payments: to whom it was owed, which is the payment of the receipt, and the fee. The
 * sentence of the fault, null where there is none.
 */
export function legsFault({ legs, payment }: JsonObject): string | null {
  if (legs === undefined) return null;
  if (!isJsonObject(payment)) return 'The receipt names two payments and none as its own.';
  const [payee, fee, ...others] = Array.isArray(legs) ? legs : [];
  if (!isLeg(payee, 'payee') || !isLeg(fee, 'fee') || others.length > 0)
    return 'The receipt names two payments, and they are not that of a payee and a fee.';
  const differs = Object.entries(REPEATED).find(([member, name]) => payee[member] !== payment[name]);
  if (differs) return `The first of two payments has another ${differs[0]} than the payment of the receipt.`;
  const one = payee.ref === fee.ref && payee.transfer_index === fee.transfer_index;
  return one ? 'The receipt names one payment twice.' : null;
}

function isLeg(value: Json | undefined, leg: string): value is JsonObject {
  return isJsonObject(value) && value.leg === leg;
}
