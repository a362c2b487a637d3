import { isJsonObject, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { validTexts } from './examples.ts';

/* Variants of a valid request, each with one member that is absent, null or unusual. */

/** Path of a member in a request, and its schema. */
export interface MemberPlace {
  readonly path: readonly (string | 0)[];
  readonly shape: JsonObject;
}

/** A request, and how it differs from the valid one. */
export interface Variant {
  readonly change: string;
  readonly value: JsonObject;
}

const CHARS_MAX = 20_000;
const DEPTH_MAX = 4;

/** Every member that a JSON Schema names, including those of inner objects and of items. */
export function placesIn(shape: Json | undefined, path: MemberPlace['path'] = []): MemberPlace[] {
  if (!isJsonObject(shape) || path.length > DEPTH_MAX) return [];
  const alternatives = [shape.anyOf, shape.oneOf, shape.allOf].flatMap(some => (Array.isArray(some) ? some : []));
  const members = Object.entries(isJsonObject(shape.properties) ? shape.properties : {}).flatMap(([name, inner]) => [
    { path: [...path, name], shape: isJsonObject(inner) ? inner : {} },
    ...placesIn(inner, [...path, name]),
  ]);
  return [...members, ...placesIn(shape.items, [...path, 0]), ...alternatives.flatMap(one => placesIn(one, path))];
}

/** One variant for each member and each of its unusual values, always in the same order. */
export function* variantsOf(valid: JsonObject, places: readonly MemberPlace[]): Generator<Variant> {
  yield { change: 'as it is', value: valid };
  yield { change: '+ no_such_member', value: { ...valid, no_such_member: 1 } };
  const told = new Set<string>();
  for (const { path, shape } of places) {
    for (const odd of [undefined, ...valuesAt(shape)]) {
      const change = `${path.join('.')} = ${shown(odd)}`;
      if (told.has(change)) continue;
      told.add(change);
      yield { change, value: put(valid, path, odd) as JsonObject };
    }
  }
}

function valuesAt(shape: JsonObject): Json[] {
  return [
    null,
    true,
    false,
    0,
    1,
    -1,
    1.5,
    2 ** 31,
    '',
    ' ',
    '0',
    '-1',
    '007',
    'x\u0000y',
    'x\u202ey',
    [],
    [null],
    ['text'],
    {},
    { no_such_member: 1 },
    ...(takesText(shape) ? validTexts : []),
    ...boundsOf(shape),
  ];
}

/** Whether a schema allows a string. A schema without a type allows everything. */
function takesText(shape: JsonObject): boolean {
  const types = [shape.type ?? []].flat();
  return types.length === 0 || types.includes('string');
}

/** Values at the limits of a schema and beyond them. */
function boundsOf(shape: JsonObject): Json[] {
  const { minimum, maximum, minLength, maxLength, maxItems, enum: words, const: word } = shape;
  const alternatives = [shape.anyOf, shape.oneOf].flatMap(some => (Array.isArray(some) ? some : []));
  return [
    ...[minimum, maximum].flatMap(bound => (typeof bound === 'number' ? [bound - 1, bound, bound + 1] : [])),
    ...[minLength, maxLength]
      .filter(chars => typeof chars === 'number' && chars <= CHARS_MAX)
      .flatMap(chars => ['x'.repeat(Number(chars)), 'x'.repeat(Number(chars) + 1)]),
    ...(typeof maxItems === 'number' && maxItems <= 1_000 ? [Array(maxItems + 1).fill('text')] : []),
    ...(Array.isArray(words) ? words : []),
    ...(word === undefined ? [] : [word]),
    ...alternatives.flatMap(one => (isJsonObject(one) ? boundsOf(one) : [])),
  ];
}

/** A copy with that value at the path. Undefined removes the member. Missing parents are created. */
function put(whole: Json | undefined, [name, ...rest]: MemberPlace['path'], value: Json | undefined): Json | undefined {
  if (name === undefined) return value;
  if (name === 0) {
    const [first, ...others] = Array.isArray(whole) ? whole : [];
    const inner = put(first, rest, value);
    return inner === undefined ? others : [inner, ...others];
  }
  const { [name]: here, ...others } = isJsonObject(whole) ? whole : {};
  const inner = put(here, rest, value);
  if (inner === undefined) return others;
  // An existing member keeps its position, because the order of members must not change.
  return isJsonObject(whole) && name in whole ? { ...whole, [name]: inner } : { ...others, [name]: inner };
}

/** Text of a value, shortened for display. */
export function shown(value: Json | undefined): string {
  if (value === undefined) return 'absent';
  const text = JSON.stringify(value);
  return text.length <= 100 ? text : `${text.slice(0, 20)}… of ${text.length} characters`;
}
