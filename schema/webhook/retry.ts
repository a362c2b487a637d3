import { webhookLimits } from '../limits.ts';

/* When a failed message is sent again, and when it is given up. */

/** A message on its way. */
export interface PendingMessage {
  /** Number of attempts so far, including the one that just failed. */
  readonly attempts: number;
  /** Time at which it was first due. */
  readonly since_ms: number;
}

export type RetryDecision = { readonly kind: 'retry'; readonly at_ms: number } | { readonly kind: 'dead' };

const { retry_ms, retry_jitter, retry_after_ms_max, message_ms_max } = webhookLimits;

/** `random` is from 0 to 1. A receiver can request more time (Retry-After), but not less. */
export function afterFailedAttempt(
  { attempts, since_ms }: PendingMessage,
  { now_ms, random, retry_after_ms }: { now_ms: number; random: number; retry_after_ms: number | null },
): RetryDecision {
  const wait_ms = retry_ms[attempts - 1];
  if (wait_ms === undefined) return { kind: 'dead' };
  const asked_ms = Math.min(retry_after_ms ?? 0, retry_after_ms_max);
  const at_ms = now_ms + Math.round(Math.max(wait_ms, asked_ms) * (1 + random * retry_jitter));
  return inTime(since_ms, at_ms);
}

/** Postpones a message without an attempt, until the receiver is tried again. */
export function afterPostponement({ since_ms }: Pick<PendingMessage, 'since_ms'>, at_ms: number): RetryDecision {
  return inTime(since_ms, at_ms);
}

function inTime(since_ms: number, at_ms: number): RetryDecision {
  return at_ms - since_ms > message_ms_max ? { kind: 'dead' } : { kind: 'retry', at_ms };
}

const { failures_until_rest, rest_ms_min, rest_ms_max, failures_until_long_rest, long_rest_ms } = webhookLimits;

/** How long a receiver is left alone after this many failures in a row. */
export function restMs(failures_in_row: number): number {
  if (failures_in_row < failures_until_rest) return 0;
  if (failures_in_row >= failures_until_long_rest) return long_rest_ms;
  return Math.min(rest_ms_min * 2 ** (failures_in_row - failures_until_rest), rest_ms_max);
}

/** Retry-After (RFC 9110, 10.2.3): seconds or a date, as milliseconds from now. Null if the header is neither. */
export function retryAfterMs(header: string | null, now_ms: number): number | null {
  if (header === null) return null;
  if (/^\d{1,9}(?:\.\d{1,3})?$/.test(header)) return Math.ceil(Number(header) * 1_000);
  // Date.parse also accepts text that is not a date, such as -5.
  const at_ms = header.endsWith(' GMT') ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at_ms) ? null : Math.max(0, at_ms - now_ms);
}
