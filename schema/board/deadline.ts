import { jobLimits } from '../limits.ts';

/* Deadline of a job: a moment, or a day, which ends at its end in UTC. */

const DAY = /^\d{4}-\d{2}-\d{2}$/;

export type DeadlineVerdict =
  | { readonly kind: 'within'; readonly at_ms: number }
  | { readonly kind: 'past' }
  | { readonly kind: 'too_far' };

/** @param deadline RFC 3339 in UTC, or a bare day */
export function judgeDeadline(deadline: string, now_ms: number): DeadlineVerdict {
  const begins_ms = Date.parse(deadline);
  const at_ms = deadlineMs(deadline);
  if (at_ms <= now_ms) return { kind: 'past' };
  // The thirtieth day from now is within thirty days, though it ends after them.
  if (begins_ms > now_ms + jobLimits.deadline_seconds_max * 1_000) return { kind: 'too_far' };
  return { kind: 'within', at_ms };
}

export function deadlineMs(deadline: string): number {
  return Date.parse(DAY.test(deadline) ? `${deadline}T23:59:59.999Z` : deadline);
}
