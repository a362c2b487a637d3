import type { JsonObject } from '../../../schema/canonical-json.ts';

/**
 * Unpaid requests, which the client stores: each is sealed into the id by which it can be paid, so that unpaid requests take no space here.
 */
export interface UnpaidRequests {
  /** Null if the id would be too long. */
  seal(request: JsonObject): string | null;
  /** Null if the id is not one of these. `lapsed`: the offer has expired. */
  open(id: string): { readonly request: JsonObject; readonly lapsed: boolean } | null;
}
