import { limits } from '../../schema/limits.ts';
import type { Authorization } from '../rails/payment.ts';

/**
 * Until when work is worth doing: as long as hubs are given at most, and, where the payment is still to be settled for
 * it, not so long that the payment runs out. Null: the money has moved already.
 */
export function workUntil(now_ms: number, unsettled: Pick<Authorization, 'valid_before_seconds'> | null): number {
  const patience_ms = now_ms + limits.hubs_timeout_ms;
  if (unsettled === null) return patience_ms;
  return Math.min(patience_ms, (unsettled.valid_before_seconds - limits.payment_validity_seconds_min) * 1_000);
}
