/** Limits of disputes, units last in each name; all others are in limits.ts. */
export const disputeLimits = {
  evidence_bytes_max: 16 * 1024,
  evidence_depth_max: 16,
  evidence_members_max: 1_000,
  /** Of a filed dispute: its evidence, and what else it says. */
  request_bytes_max: 20 * 1024,
  /** Of one row and kind of claim, each with other evidence: nobody pays for them. */
  per_claim_max: 10,
  /** Of one book. */
  filed_per_book_hour_max: 60,
  /** For how long after its payment the winner of a challenged job may reveal its output. A part of rule 3: another bound is another rule. */
  reveal_awaited_seconds: 7 * 86_400,
} as const;
