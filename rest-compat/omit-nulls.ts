import type { Json, JsonObject } from '../schema/canonical-json.ts';
import { RawJson } from '../schema/json-text.ts';
import type { LeftOutNulls } from './port.ts';

/** A place in a response where null members are left out. */
interface Place {
  /** Members that are present even if they are null. Null if no member is left out. */
  kept: ReadonlySet<string> | null;
  readonly inner: Map<string, Place>;
}

const places = new WeakMap<LeftOutNulls, Place>();

/**
 * Leaves out null members of the objects that the column names, and of no others, so that JSON scalars are not changed. A dotted name is a
 * nested member, the empty name the body itself. Written parts already have the right form. The column is parsed once.
 */
export function withoutNulls(body: Json, nulls: LeftOutNulls): Json {
  const known = places.get(nulls) ?? placeOf(nulls);
  places.set(nulls, known);
  return omitNulls(body, known);
}

function placeOf(nulls: LeftOutNulls): Place {
  const root: Place = { kept: null, inner: new Map() };
  for (const [path, kept] of Object.entries(nulls)) {
    let place = root;
    for (const name of path === '' ? [] : path.split('.')) {
      const inner = place.inner.get(name) ?? { kept: null, inner: new Map() };
      place.inner.set(name, inner);
      place = inner;
    }
    place.kept = new Set(kept);
  }
  return root;
}

function omitNulls(value: Json, place: Place): Json {
  const { kept, inner } = place;
  if (kept === null && inner.size === 0) return value;
  if (isList(value)) return value.map(item => omitNulls(item, place));
  if (!isOpen(value)) return value;
  const members = Object.entries(value).filter(([name, member]) => member !== null || kept === null || kept.has(name));
  return Object.fromEntries(members.map(([name, member]) => [name, omitMemberNulls(member, inner.get(name))]));
}

function omitMemberNulls(member: Json, place: Place | undefined): Json {
  return place ? omitNulls(member, place) : member;
}

/** Without null members at any depth. */
export function withoutAnyNulls(value: Json): Json {
  if (isList(value)) return value.map(withoutAnyNulls);
  if (!isOpen(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutAnyNulls(member)]));
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** An object that has not been serialized yet. */
function isOpen(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !isList(value) && !(value instanceof RawJson);
}
