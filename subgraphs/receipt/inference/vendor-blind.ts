import type { Principal } from '../../../schema/principal.ts';

/**
 * Whether whoever answers learns nothing of who asks: from hubs that is kept always, and promised, in what is signed, to
 * whoever shows a session. Not to demo keys, and not where the router is asked under the caller's own key, which says
 * whose it is. What is answered by a link takes it back (`Work.fetched_there`): whoever follows it is seen by the hub.
 */
export function isVendorBlind({ possession, api_key }: Principal, routed: boolean): boolean {
  return possession.kind === 'proven' && api_key.kind !== 'demo' && !routed;
}
