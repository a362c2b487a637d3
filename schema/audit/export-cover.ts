import { isJsonObject, type JsonObject } from '../canonical-json.ts';

/* Which rows of a book a published export has: told from its coverage, which is signed. */

export interface ExportCover extends JsonObject {
  /** Rows that it has. */
  readonly rows: number | null;
  /** Rows that the book had. Null where the scan did not finish. */
  readonly of: number | null;
  /** Whether it has all rows of the book. */
  readonly complete: boolean;
  /** Rows that match its filters and are left out by its limit. */
  readonly cut_off: number | null;
  /** Rows that do not match its filters. */
  readonly filtered_out: number | null;
  /** What its rows were chosen by: members that are null chose none. */
  readonly filters: JsonObject;
}

/** @param document a published export whose coverage was verified */
export function exportCover({ coverage }: JsonObject): ExportCover {
  const { enumerated_count, universe_count, complete, omitted_by_policy_count, filtered_out_count, scope } =
    isJsonObject(coverage) ? coverage : {};
  const { from = null, to = null, limit = null, filters } = isJsonObject(scope) ? scope : {};
  return {
    rows: countOf(enumerated_count),
    of: countOf(universe_count),
    complete: complete === true,
    cut_off: countOf(omitted_by_policy_count),
    filtered_out: countOf(filtered_out_count),
    filters: { from, to, ...(isJsonObject(filters) ? filters : {}), limit },
  };
}

const countOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);
