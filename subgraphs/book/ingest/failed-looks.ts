/**
 * How often somebody may have the chain looked at for a transfer that is not there: each look costs calls of a node, and
 * nobody pays for one that comes to nothing.
 */
export interface FailedLooks {
  /** For how long none of theirs is taken; null where it is now. @param who all of whom a look is counted for */
  rest(who: readonly string[]): LookRest | null;
  failed(who: readonly string[]): void;
}

export interface LookRest {
  readonly seconds: number;
  /** RateLimit and RateLimit-Policy. */
  readonly headers: Readonly<Record<string, string>>;
}
