import { isJsonObject, type Json, type JsonObject } from '../schema/canonical-json.ts';
import { Written } from '../schema/written.ts';
import type { Columns } from './door.ts';

/**
 * Leaves out null members of the objects that the column names; one level deep, never into a JSON scalar. What is Written
 * was written so.
 */
export function withoutNulls(body: Json, nulls: Columns['nulls']): Json {
  if (!isJsonObject(body) || Object.keys(nulls).length === 0) return body;
  const members = Object.entries(body).map(([name, value]): [string, Json] => {
    const kept = nulls[name];
    return [name, kept === undefined ? value : thinned(value, kept)];
  });
  return Object.fromEntries(members);
}

function thinned(value: Json, kept: readonly string[]): Json {
  if (Array.isArray(value)) return value.map((item: Json) => thinned(item, kept));
  if (!isJsonObject(value) || value instanceof Written) return value;
  const object: JsonObject = value;
  return Object.fromEntries(Object.entries(object).filter(([name, member]) => member !== null || kept.includes(name)));
}
