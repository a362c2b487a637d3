import { Refusal } from '../../../schema/errors.ts';
import { webhookLimits } from '../../../schema/limits.ts';

/* Hourly limits of free requests, counted on the row of the webhook under its lock. */

const HOUR_MS = 3_600_000;

const rooms = {
  changes: webhookLimits.changes_per_hour_max,
  pings: webhookLimits.pings_per_hour_max,
  redeliveries: webhookLimits.redeliveries_per_hour_max,
} as const;

type RoomName = keyof typeof rooms;

/** Uses of each limit within an hour, which starts with the first use. */
export type HourlyUses = Partial<Readonly<Record<RoomName, { readonly from_ms: number; readonly count: number }>>>;

/** Adds one use, and returns all uses. @throws rate_limited */
export function useRoom(used: HourlyUses, name: RoomName, now_ms: number): HourlyUses {
  const before = used[name];
  if (before === undefined || now_ms - before.from_ms >= HOUR_MS)
    return { ...used, [name]: { from_ms: now_ms, count: 1 } };
  if (before.count < rooms[name]) return { ...used, [name]: { ...before, count: before.count + 1 } };
  throw new Refusal('rate_limited', {
    detail: `A webhook accepts at most ${rooms[name]} ${name} per hour.`,
    facts: { retry_after_seconds: Math.ceil((before.from_ms + HOUR_MS - now_ms) / 1_000) },
  });
}
