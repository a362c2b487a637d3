/** A time that somebody else told us, and our own when we asked and when we had heard. */
export interface ToldTime {
  readonly asked_ms: number;
  readonly heard_ms: number;
  readonly told_ms: number;
}

/** By how much our clock is off at least: they told their time at some moment between our asking and our hearing. */
export function clockOff({ asked_ms, heard_ms, told_ms }: ToldTime): number {
  return Math.max(0, asked_ms - told_ms, told_ms - heard_ms);
}
