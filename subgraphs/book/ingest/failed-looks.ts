/** Limits lookups of transfers that do not exist: each costs calls of a node, and none is paid for. */
export interface FailedLooks {
  /** Time until their next lookup is allowed. Null if it is now. @param who everyone that a lookup is counted for */
  rest(who: readonly string[]): LookRest | null;
  countFailure(who: readonly string[]): void;
}

export interface LookRest {
  readonly seconds: number;
  /** Headers RateLimit and RateLimit-Policy. */
  readonly headers: Readonly<Record<string, string>>;
}
