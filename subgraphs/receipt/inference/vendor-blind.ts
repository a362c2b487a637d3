import type { Principal } from '../../../schema/principal.ts';

/**
 * Whether whoever answers learns nothing of who asks: from hubs that is kept always, and promised, in what is signed, to
 * whoever shows a session. Not to demo keys, and not where the router is asked under the caller's own key, which says
 * whose it is.
 */
export function isVendorBlind({ possession, api_key }: Principal, routed: boolean): boolean {
  return possession.kind === 'proven' && api_key.kind !== 'demo' && !routed;
}
