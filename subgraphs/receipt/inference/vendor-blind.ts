import type { Context } from '../../context.ts';

/**
 * Whether whoever answers learns nothing of who asks: from hubs that is kept always, and promised, in what is signed, to
 * whoever shows a session. Not to demo keys (which beside a payment count for nothing), and not where the router is asked under the caller's own key, which says
 * whose it is. What is answered by a link takes it back (`Work.fetched_there`): whoever follows it is seen by the hub.
 */
export function isVendorBlind(
  { principal: { possession, api_key }, payment }: Pick<Context, 'principal' | 'payment'>,
  routed: boolean,
): boolean {
  const demo = api_key.kind === 'demo' && payment === null;
  return possession.kind === 'proven' && !demo && !routed;
}
