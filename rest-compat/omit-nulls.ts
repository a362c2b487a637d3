import { isJsonObject, type Json, type JsonObject } from '../schema/canonical-json.ts';
import { Written } from '../schema/written.ts';
import type { LeftOutNulls } from './port.ts';

/**
 * Leaves out null members of the objects that the column names, of no other and never into a JSON scalar. A dotted name is
 * a member of each of those objects. What is Written was written so.
 */
export function withoutNulls(body: Json, nulls: LeftOutNulls): Json {
  return Object.entries(nulls).reduce((thinner, [path, kept]) => at(thinner, path.split('.'), kept), body);
}

function at(value: Json, [name, ...path]: readonly string[], kept: readonly string[]): Json {
  if (name === undefined) return thinned(value, kept);
  if (Array.isArray(value)) return value.map((item: Json) => at(item, [name, ...path], kept));
  const object = isJsonObject(value) && !(value instanceof Written) ? value : {};
  const member = object[name];
  return member === undefined ? value : { ...object, [name]: at(member, path, kept) };
}

/** Without a null anywhere in it: for what says no more than it has to say. */
export function bare(value: Json): Json {
  if (Array.isArray(value)) return value.map(bare);
  if (!isJsonObject(value) || value instanceof Written) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, bare(member)]));
}

function thinned(value: Json, kept: readonly string[]): Json {
  if (Array.isArray(value)) return value.map((item: Json) => thinned(item, kept));
  if (!isJsonObject(value) || value instanceof Written) return value;
  const object: JsonObject = value;
  return Object.fromEntries(Object.entries(object).filter(([name, member]) => member !== null || kept.includes(name)));
}
