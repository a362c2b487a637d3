/*
 * Times at which a key of the issuer signs, for signer, database and verifier. A published key states them in members
 * that OpenID Federation registers for historical keys; other readers ignore these (RFC 7517 §4).
 */

/**
 * For so long after it gave way to another a key may still sign: the processes of a fleet are restarted one after the other,
 * and none of them refuses a call meanwhile.
 */
export const KEY_OVERLAP_SECONDS = 3_600;

/**
 * So long before that it takes no more payments: by the end all that it has taken is worked for, settled and recorded, by whichever
 * of the clocks that may differ.
 */
export const KEY_LAST_CALLS_SECONDS = 600;

/** By how much the clock that dates a key and the one that dates a receipt may differ. */
export const KEY_CLOCK_SECONDS = 60;
