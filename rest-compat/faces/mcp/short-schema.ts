import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { INT_MAX } from '../../../schema/limits.ts';
import { constantText, optionalConstantText } from '../../../schema/words.ts';
import type { PartSchema } from '../../door-schemas.ts';

/*
 * The arguments of a tool in few bytes: what a model needs to make a call. A short schema is never narrower than the full one, so every
 * call that the full schema allows is allowed by it; the endpoint validates each call by its own schema in either case.
 */

/** How many levels of members below the arguments are listed. */
const DEPTH_MAX = 1;

/** Takes members out that a model has no use for: other names, and what is refused or has no effect (`rest_only`). They stay allowed. */
export function dropRestOnlyMembers(part: z.core.$ZodType, made: PartSchema): void {
  const { properties } = made;
  if (!properties || !(part instanceof z.ZodObject)) return;
  for (const name of Object.keys(properties)) {
    const member: unknown = part.shape[name];
    if (!(member instanceof z.ZodType) || member.meta()?.rest_only !== true) continue;
    delete properties[name];
    made.additionalProperties = {};
  }
}

/** Each member in short. For a member with the shape of an earlier one, such as another name of it, only the type and the description. */
export function shortMembers(shapes: JsonObject): JsonObject {
  const known = new Set<string>();
  const members: Record<string, Json> = {};
  for (const [name, shape] of Object.entries(shapes)) {
    const short = shortShape(shape, DEPTH_MAX);
    const form = JSON.stringify({ ...short, description: null });
    members[name] = known.has(form) ? shortShape(shape, 0) : short;
    known.add(form);
  }
  return members;
}

function shortShape(shape: Json | undefined, depth: number): JsonObject {
  const forms = formsOf(shape);
  const types = typesOf(forms);
  const description = descriptionOf(forms);
  return {
    ...(types !== null && { type: types.length === 1 ? (types[0] as string) : types }),
    ...(description !== null && { description }),
    ...valuesOf(forms),
    ...boundsOf(forms),
    ...(types !== null && depth > 0 && { ...membersOf(forms, depth - 1), ...itemsOf(forms, depth) }),
  };
}

/** Every form that a value may have; none of them has alternatives. The description of all forms precedes that of a single form. */
function formsOf(shape: Json | undefined): readonly JsonObject[] {
  if (!isJsonObject(shape)) return [{}];
  const alternatives = shape.anyOf ?? shape.oneOf;
  if (!Array.isArray(alternatives)) return [shape];
  const forms = alternatives.flatMap(one => formsOf(one));
  const { description } = shape;
  return description === undefined ? forms : forms.map(form => ({ ...form, description }));
}

/** Null if some form may have any type. */
function typesOf(forms: readonly JsonObject[]): readonly string[] | null {
  const types = forms.map(typesIn);
  return types.every(some => some.length > 0) ? [...new Set(types.flat())] : null;
}

function typesIn({ type }: JsonObject): readonly string[] {
  return type === undefined ? [] : ([type].flat() as string[]);
}

/** The descriptions of all forms, each once. Null if there is none. */
function descriptionOf(forms: readonly JsonObject[]): string | null {
  /** Each description with the only value of a form that has it, if there is such a form. */
  const constants = new Map<string, Json | undefined>();
  for (const { description, const: value } of forms)
    if (typeof description === 'string') constants.set(description, value ?? constants.get(description));
  const [first, ...more] = constants;
  if (first === undefined || more.length === 0) return first?.[0] ?? null;
  const bare: string[] = [];
  const others: string[] = [];
  for (const [text, value] of constants) {
    if (text === constantText(value) || text === optionalConstantText(value)) bare.push(`\`${value}\``);
    // "Always" is true of one form only.
    else others.push(text.replace(`${constantText(value)} `, () => `\`${value}\`: `));
  }
  const values = bare.length === 0 ? [] : [`${others.length === 0 ? 'One of' : 'Also'} ${bare.join(', ')}.`];
  return [...others, ...values].join(' ');
}

/** The values of all forms, if each form names its own. */
function valuesOf(forms: readonly JsonObject[]): JsonObject {
  const values = forms.map(valuesIn);
  const named = values.flatMap(some => some ?? []);
  return values.some(some => some === null) || named.every(value => value === null)
    ? {}
    : { enum: [...new Set(named)] };
}

function valuesIn({ type, enum: several, const: one }: JsonObject): readonly Json[] | null {
  if (Array.isArray(several)) return several;
  if (one !== undefined) return [one];
  return type === 'null' ? [null] : null;
}

/** Bounds of a number that has one form besides null. A bound as large as that of the database is useless to a model. */
function boundsOf(forms: readonly JsonObject[]): JsonObject {
  const [number, ...others] = forms.filter(({ type }) => type !== 'null');
  if (number === undefined || others.length > 0) return {};
  const { minimum, maximum } = number;
  return {
    ...(typeof minimum === 'number' && minimum > -INT_MAX && { minimum }),
    ...(typeof maximum === 'number' && maximum < INT_MAX && { maximum }),
  };
}

/** Members of all objects among the forms. A member that some form does not list but accepts is only described. */
function membersOf(forms: readonly JsonObject[], depth: number): JsonObject {
  const objects = forms.filter(form => typesIn(form).includes('object'));
  const listed = objects.map(({ properties }) => (isJsonObject(properties) ? properties : {}));
  const names = new Set(listed.flatMap(Object.keys));
  if (names.size === 0) return {};
  const member = (name: string) => {
    const shapes = listed.flatMap(members => members[name] ?? []);
    const { description, ...short } = shortShape({ anyOf: shapes }, depth);
    const is_open = objects.some(({ additionalProperties }, i) => !listed[i]?.[name] && additionalProperties !== false);
    return { ...(!is_open && short), ...(description !== undefined && { description }) };
  };
  const required = [...names].filter(name =>
    objects.every(({ required }) => Array.isArray(required) && required.includes(name)),
  );
  return {
    properties: Object.fromEntries([...names].map(name => [name, member(name)])),
    ...(required.length > 0 && { required }),
  };
}

function itemsOf(forms: readonly JsonObject[], depth: number): JsonObject {
  const lists = forms.filter(form => typesIn(form).includes('array'));
  // If the first items have shapes of their own, `items` is the shape of the others only.
  if (lists.length === 0 || lists.some(({ prefixItems }) => prefixItems !== undefined)) return {};
  const items = shortShape({ anyOf: lists.map(list => list.items ?? {}) }, depth);
  return Object.keys(items).length === 0 ? {} : { items };
}
