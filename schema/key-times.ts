/*
 * Times at which a key of the issuer signs, for signer, database and verifier. A published key states them in members
 * that OpenID Federation registers for historical keys; other readers ignore these (RFC 7517 §4).
 */

/** How long a replaced key may still sign, so that the processes of a fleet can be restarted one after the other without refusing calls. */
export const KEY_OVERLAP_SECONDS = 3_600;

/**
 * How long before its end a key accepts no more payments, so that all accepted ones are answered, settled and recorded in time by any of
 * the clocks.
 */
export const KEY_LAST_CALLS_SECONDS = 600;

/** Maximum difference between the clocks that date a key and a receipt. */
export const KEY_CLOCK_SECONDS = 60;
