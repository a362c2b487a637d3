import { limits } from '../../schema/limits.ts';

/**
 * Time limit of the work: the hubs' maximum, and for an unsettled payment early enough to settle it. Null: there is no work, or
 * its money has moved already.
 */
export function workUntil(now_ms: number, unsettled: { readonly valid_before_seconds: number } | null): number {
  const patience_ms = now_ms + limits.hubs_timeout_ms;
  if (unsettled === null) return patience_ms;
  return Math.min(patience_ms, (unsettled.valid_before_seconds - limits.payment_validity_seconds_min) * 1_000);
}
