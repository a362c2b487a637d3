import { limits } from '../../schema/limits.ts';

/**
 * Time limit of the work: the maximum for hubs. For an unsettled payment, the work must also end early enough to settle it. `unsettled` is
 * null if there is no payment, or its money has moved already.
 */
export function workUntil(now_ms: number, unsettled: { readonly valid_before_seconds: number } | null): number {
  const patience_ms = now_ms + limits.hubs_timeout_ms;
  if (unsettled === null) return patience_ms;
  return Math.min(patience_ms, (unsettled.valid_before_seconds - limits.payment_validity_seconds_min) * 1_000);
}
