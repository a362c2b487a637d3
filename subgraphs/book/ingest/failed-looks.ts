/** Limits lookups of transfers that do not exist, because each costs calls to a node and none is paid for. */
export interface FailedLooks {
  /**
   * Time until the next lookup is allowed. Null if it is allowed now.
   * @param who names of the agent and the payer, for each of which lookups are counted
   */
  rest(who: readonly string[]): LookRest | null;
  countFailure(who: readonly string[]): void;
}

export interface LookRest {
  readonly seconds: number;
  /** Headers RateLimit and RateLimit-Policy of the response. */
  readonly headers: Readonly<Record<string, string>>;
}
