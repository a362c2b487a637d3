import type { JsonObject } from '../../../schema/canonical-json.ts';

/* What this face is handed of keys that it does not hold. */

/** A JWS whose payload is what it stands in, in its canonical form. */
export interface CardSignature {
  readonly protected: string;
  readonly signature: string;
}

/**
 * Requests that wait for their payment at whoever has made them: each is sealed into the id by which it is paid for, so that
 * nobody fills anything here with what is never paid.
 */
export interface OfferedRequests {
  /** Null where it is longer than an id may be. */
  seal(request: JsonObject): string | null;
  /** Null where the id is none of these. `lapsed`: it can be paid for no longer. */
  open(id: string): { readonly request: JsonObject; readonly lapsed: boolean } | null;
}
