import type { Context } from '../../context.ts';

/**
 * Whether it is promised, in what is signed, that this service adds nothing that says who asks. To a hub it never adds any, and it
 * promises so to whoever shows a session. What the caller wrote for the model is put into the form that the hub takes, without members
 * that have no effect; text of the caller that names the caller reaches the hub. Not to demo keys (which beside a payment count for nothing), and not where the router is asked under the caller's own key, which says
 * whose it is. What is answered by a link takes it back (`Work.fetched_there`): whoever follows it is seen by the hub.
 */
export function isVendorBlind(
  { principal: { possession, api_key }, payment }: Pick<Context, 'principal' | 'payment'>,
  routed: boolean,
): boolean {
  const demo = api_key.kind === 'demo' && payment === null;
  return possession.kind === 'proven' && !demo && !routed;
}
