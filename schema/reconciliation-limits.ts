/** Limits of reconciliations, units last in each name; all others are in limits.ts. */
export const reconciliationLimits = {
  /** Of one request: about 28 hours of Base. */
  blocks_max: 50_000,
  /** Asked of a node at once; halved where it refuses. */
  page_blocks_max: 2_000,
  /** A page that holds more is asked for in halves, so that no transaction has to write more. */
  page_transfers_max: 2_000,
  /** Between two turns of the queue, so that no report holds up another. */
  pages_per_turn_max: 4,
  /** Of a document: those beyond it are in its sums alone. */
  listed_transfers_max: 2_000,
  /** Of one agent: nobody pays for them. */
  per_agent_day_max: 24,
  /** Of one agent, the newest: older ones are dropped. */
  kept_per_agent_max: 50,
  /** After so long without a page one fails by the name of what it waits for. */
  waits_seconds_max: 600,
  /** Between two questions to whoever did not answer. */
  rest_ms: 1_000,
  /** One that nobody has worked on for so long is over: its job is gone. */
  abandoned_seconds: 7_200,
  /** Of the receipts that somebody has paid for, the newest: enough to say that a wallet pays for this agent's calls. */
  payer_receipts_looked_at_max: 1_000,
} as const;
