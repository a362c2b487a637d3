import { isJsonObject, type JsonObject } from '../canonical-json.ts';

/* Which rows of the book a published export has, by its signed coverage. */

export interface ExportCover extends JsonObject {
  /** Number of rows in the export. */
  readonly rows: number | null;
  /** Number of rows of the book. Null if the scan did not finish. */
  readonly of: number | null;
  /** Whether it has all rows of the book. */
  readonly complete: boolean;
  /** Number of matching rows that the limit leaves out. */
  readonly cut_off: number | null;
  /** Number of rows that do not match the filters. */
  readonly filtered_out: number | null;
  /** Filters of the rows. A member that is null does not filter. */
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
