import { stringify } from 'csv-stringify/sync';
import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { exportFieldNames } from '../../../schema/export-row.ts';

/**
 * Rows as CSV (RFC 4180, lines end with LF) with a header line. Lists and objects are JSON in their cell. A text that a spreadsheet
 * would read as a formula gets a leading apostrophe (OWASP, CSV Injection).
 */
export function csvOf(rows: readonly JsonObject[], names: readonly string[] = exportFieldNames): string {
  const records = rows.map(row => names.map(name => cellText(row[name])));
  return stringify([[...names], ...records], { escape_formulas: true });
}

function cellText(value: Json | undefined): string {
  if (value === null || value === undefined) return '';
  return Array.isArray(value) || isJsonObject(value) ? JSON.stringify(value) : String(value);
}
