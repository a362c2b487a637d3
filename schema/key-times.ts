/*
 * When a key of the issuer signs: signer, database and verifier reckon by these. A published key says it of itself, in the
 * members that OpenID Federation registers for keys of a history (RFC 7517 §4: whoever does not know them ignores them).
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
