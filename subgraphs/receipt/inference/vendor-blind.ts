import type { Context } from '../../context.ts';

/**
 * Whether the receipt promises that this service added nothing that identifies the caller. The service never adds anything of that kind,
 * but it signs the promise only for callers with a session. The caller's request is put into the form that the hub accepts, without members
 * that have no effect. Text in which the caller names itself still reaches the hub. No promise is made to callers with a demo key (unless
 * they also send a payment), nor for the router, whose key identifies the caller. An answer by link withdraws the promise
 * (`Work.fetched_there`), because the hub sees who follows the link.
 */
export function isVendorBlind(
  { principal: { possession, api_key }, payment }: Pick<Context, 'principal' | 'payment'>,
  routed: boolean,
): boolean {
  const demo = api_key.kind === 'demo' && payment === null;
  return possession.kind === 'proven' && !demo && !routed;
}
