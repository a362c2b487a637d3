/** Limits of delegated sessions, units last in each name; all others are in ../limits.ts. */
export const sessionLimits = {
  /** Of the X-SVC-Delegation header: as long as a payment's, whose signature may be a contract wallet's (ERC-6492), too. */
  delegation_header_chars_max: 16 * 1024,
  /** A session and all that stand over it: each is locked with every call that is paid for under it. */
  depth_max: 8,
  /** Children of one session that are neither expired nor revoked: each may be bound by a payment of 0.002 USDC. */
  children_max: 1_000,
  names_max: 32,
  door_chars_max: 64,
  life_seconds_max: 366 * 24 * 60 * 60,
  /** Before its end a session serves no new payment: what it buys is recorded while the session lasts. */
  last_call_seconds: 30,
  /** Of an act with a nonce of its own: now < deadline <= now + this. */
  act_seconds_max: 300,
  challenge_seconds_min: 120,
  challenge_seconds_max: 300,
  /** Of a nonce that is 32 bytes, its two times and a mark. */
  challenge_id_chars_max: 128,
  /** Acts of one session whose nonces are remembered, which is for as long as they would pass. */
  acts_taken_max: 10_000,
  /** Agents that one receipt can be handed off to: each hand-off is a receipt that nobody pays for. */
  hand_offs_per_receipt_max: 8,
  /** Hand-offs of one session in one UTC hour. */
  hand_offs_per_session_hour_max: 60,
  /** Counts of hours that are over are deleted after so long. */
  uses_kept_hours: 2,
  /** A revocation is signed now, give or take the clocks. */
  revocation_age_seconds_max: 300,
  revocation_ahead_seconds_max: 30,
  /** Grants that one wallet may revoke before a payment has bound them: each is published for good. */
  unbound_revocations_per_payer_max: 100,
  /** Of revocations that are listed at once. */
  page_revocations_max: 1_000,
  act_rows_max: 200,
  act_rows_default: 50,
  /** A session that no recorded payment has bound is forgotten after so long, once none holds it. */
  unbound_kept_seconds: 3_600,
  unbound_forgotten_at_once_max: 500,
  /** Of a tree that is shown at once. */
  tree_sessions_max: 1_000,
  tree_sessions_default: 200,
  /** Of the sessions that a wallet has granted itself. */
  listed_sessions_max: 200,
  listed_sessions_default: 50,
} as const;

/** Why a grant is refused, as read behind "The grant is not accepted:". */
export const SIBLINGS_FULL = `its parent session already has ${sessionLimits.children_max.toLocaleString('en-US')} child sessions that have neither expired nor been revoked`;
