import type { Context } from '../../context.ts';

/**
 * Whether the receipt promises that this service added nothing that identifies the caller. It never adds any; it signs
 * the promise for callers with a session. What the caller wrote for the model is put into the hub's form, without
 * members that have no effect; text of the caller that names the caller reaches the hub. No promise is made to demo
 * keys (which do not count beside a payment), nor for the router, whose key identifies the caller. An answer by link
 * withdraws it (`Work.fetched_there`): its reader is seen by the hub.
 */
export function isVendorBlind(
  { principal: { possession, api_key }, payment }: Pick<Context, 'principal' | 'payment'>,
  routed: boolean,
): boolean {
  const demo = api_key.kind === 'demo' && payment === null;
  return possession.kind === 'proven' && !demo && !routed;
}
