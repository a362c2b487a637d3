import type { JsonObject } from '../../../schema/canonical-json.ts';

/* Operations with keys that this folder does not have. */

/** A detached JWS over the canonical form of the card that contains it. */
export interface CardSignature {
  readonly protected: string;
  readonly signature: string;
}

/**
 * Unpaid requests, which the client stores: each is sealed into the id by which it can be paid, so that unpaid requests take no space here.
 */
export interface OfferedRequests {
  /** Null if the id would be too long. */
  seal(request: JsonObject): string | null;
  /** Null if the id is not one of these. `lapsed`: the offer has expired. */
  open(id: string): { readonly request: JsonObject; readonly lapsed: boolean } | null;
}
