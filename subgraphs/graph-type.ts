import { GraphQLJSON, GraphQLJSONObject, GraphQLSafeInt } from 'graphql-scalars';
import { ArgsType, Directive, Field, Float, InputType, Int, ObjectType } from 'type-graphql';
import { z } from 'zod';
import { parseAtomic } from '../schema/amount.ts';
import { type Camel, snake } from '../schema/camel.ts';
import { isJsonObject } from '../schema/canonical-json.ts';
import type { MembersOf, ShowableAs } from '../schema/noun.ts';
import {
  argumentShape,
  graphName,
  type MemberShape,
  memberShape,
  namedMember,
  shapeMembers,
} from '../schema/noun-shape.ts';
import { parseRequest, validBodyOf } from '../schema/requests/parse.ts';
import type { WithoutPossession } from '../schema/requests/possession.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../schema/scalars.ts';
import { wordEnum } from './graph-enum.ts';
import { costOfText } from './page-cost.ts';

/* Types, inputs and arguments of the graph, made from nouns (schema/noun.ts). */

type Class<T extends object = object> = new () => T;

/**
 * Classes by the noun that they were made from: `shown` has those of output types, `asked` those of inputs. A member whose schema is such a
 * noun has its class as type, if the noun has only one.
 */
type Classes = WeakMap<z.core.$ZodType, ReadonlySet<Class>>;
const shown: Classes = new WeakMap();
const asked: Classes = new WeakMap();

function addClass(classes: Classes, noun: z.core.$ZodType, type: Class): void {
  classes.set(noun, new Set([...(classes.get(noun) ?? []), type]));
}

/**
 * Makes an object type with the members of a noun, and with those of `on_graph`, which only the graph shows. An entity has columns that are
 * not shown, so it calls `showMembers` instead.
 */
export function objectType<N extends z.ZodObject, G extends z.ZodObject = z.ZodObject<Record<never, never>>>(
  name: string,
  description: string,
  noun: N,
  on_graph?: G,
): Class<MembersOf<N> & MembersOf<G>> {
  const type = named(name);
  ObjectType(name, { description })(type);
  addMembers(type, noun);
  if (on_graph) addMembers(type, on_graph);
  return type as Class<MembersOf<N> & MembersOf<G>>;
}

/** Marks a type of which several subgraphs have fields. Its objects are identified by the field `key` (Apollo Federation). */
export function withKey<C extends Class>(type: C, key: string): C {
  Directive(`@key(fields: "${key}")`)(type);
  return type;
}

/** Makes `type` the type of members whose schema is this noun, for a class whose fields are not made from the noun itself. */
export function showsNoun(type: Class, noun: z.ZodType): void {
  addClass(shown, noun, type);
}

/** Makes a base class with the members of a noun, for a type that adds other members. It shows no field until `showMembers` is called. */
export function membersOf<N extends z.ZodObject>(_noun: N): Class<MembersOf<N>> {
  return class {} as Class<MembersOf<N>>;
}

/**
 * Shows the members of a noun as fields of a class, except `computed` members, which their resolvers show. `types` names types by member,
 * in place of those that would be derived. It must name the class of a member whose noun has several. The class must declare all other
 * members as the noun does.
 */
export function showMembers<N extends z.ZodObject, T extends string = never>(
  type: Class<Omit<MembersOf<N>, Camel<T>>>,
  noun: N,
  types?: Readonly<Record<T, object>>,
): void {
  addMembers(type, noun, types);
}

function addMembers(type: Class, noun: z.ZodObject, types: Readonly<Record<string, object>> = {}): void {
  addClass(shown, noun, type);
  for (const [member, shape] of Object.entries(noun.shape)) {
    const known = memberShape(shape);
    const { chars_max, cost, computed, assumed_items } = known.meta;
    // The resolver of a computed member may use the enum of its words.
    knowWords(known);
    if (computed) continue;
    const property = graphName(member, known);
    addField(type, property, known, () => types[member] ?? graphTypeOf(known.inner, known, shown));
    if (chars_max !== undefined) Directive(costOfText(chars_max))(type.prototype, property);
    if (cost !== undefined) Directive(`@cost(weight: ${cost})`)(type.prototype, property);
    if (assumed_items !== undefined) Directive(`@listSize(assumedSize: ${assumed_items})`)(type.prototype, property);
  }
}

/**
 * Converts a document with the member names of the wire for resolvers. Members get their names on the graph, and are null if they are
 * absent. Members that the noun does not name are left out. Text becomes an amount or a time if the graph has such a scalar for it; amounts
 * and Dates are not changed.
 */
export function shownOf<N extends z.ZodObject>(noun: N, document: ShowableAs<N>): MembersOf<N> {
  const given: Readonly<Record<string, unknown>> = document;
  const members: Record<string, unknown> = {};
  for (const { member, name, show } of membersShown(noun)) members[name] = show(given[member] ?? null);
  return members as MembersOf<N>;
}

interface ShownMember {
  readonly member: string;
  /** Name of the member on the graph. */
  readonly name: string;
  readonly show: (value: unknown) => unknown;
}

/** Members by noun. They are computed once for each noun, because every paid answer is converted by them. */
const shownBy = new WeakMap<z.ZodObject, readonly ShownMember[]>();

function membersShown(noun: z.ZodObject): readonly ShownMember[] {
  const known = shownBy.get(noun);
  if (known) return known;
  const members = Object.entries(noun.shape).flatMap(([member, one]) => {
    const shape = memberShape(one);
    return shape.meta.computed ? [] : [{ member, name: graphName(member, shape), show: valueShown(shape) }];
  });
  shownBy.set(noun, members);
  return members;
}

function valueShown(known: MemberShape): ShownMember['show'] {
  const item = itemShown(known);
  return known.list ? value => (Array.isArray(value) ? value.map(item) : item(value)) : item;
}

/** Returns the conversion of one value: text to an amount or a time if the graph has such a scalar, a nested document by `shownOf`. */
function itemShown(known: MemberShape): (value: unknown) => unknown {
  const { inner } = known;
  const { scalar } = valueMeta(inner, known);
  if (scalar === 'AtomicAmount') return value => (typeof value === 'string' ? parseAtomic(value) : value);
  if (scalar === 'DateTime') return value => (typeof value === 'string' ? new Date(value) : value);
  if (scalar !== undefined || !(inner instanceof z.ZodObject)) return value => value;
  return value => (isJsonObject(value) ? shownOf(inner, value) : value);
}

/** Name of the type that was made from a noun. @throws Error if there is no such type, or if there are several */
export function typeNameOf(noun: z.core.$ZodType): string {
  return onlyClass([...(shown.get(nounOf(noun, shown) ?? noun) ?? [])]).name;
}

/** Options of the field resolver of a computed member: its description. @throws Error if the member has none */
export function descriptionOptions({ description }: z.ZodType): { readonly description: string } {
  if (description === undefined) throw new Error('a computed member has no description');
  return { description };
}

/** Arguments or an input as a resolver receives them: named as on the graph, and not validated. `readRequest` validates them. */
export type Arguments = Readonly<Record<string, unknown>>;

/**
 * Arguments of a field of a book. `agentId` is read before the arguments are validated, because possession of the book is checked first.
 */
export type ArgumentsOfBook = Arguments & { readonly agentId: number };

/**
 * Makes an input with the members of a request, except those marked `by_header`, `rest_only` or `beside_input`. `others`: further nouns by
 * which the same input is read, such as one that requires more of its members.
 */
export function inputType(
  name: string,
  description: string,
  noun: z.ZodType,
  ...others: z.ZodType[]
): Class<Arguments> {
  const type = named(name);
  InputType(name, { description })(type);
  for (const same of [noun, ...others]) addClass(asked, same, type);
  addArguments(type, noun, ({ beside_input }) => !beside_input);
  return type as Class<Arguments>;
}

/** Makes the arguments of a field from the members of these requests, such as its path and its body. */
export function argumentsType(...nouns: readonly z.ZodType[]): Class<Arguments> {
  const type = named('Arguments');
  ArgsType()(type);
  for (const noun of nouns) addArguments(type, noun);
  return type as Class<Arguments>;
}

/**
 * Validates a request that came as arguments or as an input. If an endpoint of this process has validated `valid_body` of the context by
 * the same schema, that body is returned instead. @throws Refusal invalid_request, with the member at fault as `param`
 * @throws Error if the input was not passed on, because `InputReadBy` names another schema than this one
 */
export function readRequest<S extends z.ZodType>(
  schema: S,
  given: Arguments | null,
  { valid_body }: { readonly valid_body?: object } = {},
): WithoutPossession<z.output<S>> {
  const body = validBodyOf(schema, valid_body);
  if (body !== null) return withoutHeaders(schema, body) as WithoutPossession<z.output<S>>;
  if (given === null) throw new Error('InputReadBy names another schema than the one that this input is read by');
  const parsed = parseRequest(schema, onWire(schema, given), 'member', member => argumentName(schema, member));
  return parsed as WithoutPossession<z.output<S>>;
}

/**
 * Returns the given members by their wire names, not validated, and without the bounds and defaults of the noun. For arguments that only
 * identify something, such as a path.
 */
export function givenMembers<S extends z.ZodType>(schema: S, given: Arguments): z.input<S> {
  return onWire(schema, given) as z.input<S>;
}

/** Name of a member in a Refusal. If the member has another name on the graph, it is that name in snake_case. */
function argumentName(schema: z.ZodType, member: string): string {
  const { graph } = namedMember(shapeMembers(schema), member)?.meta ?? {};
  return graph === undefined ? member : snake(graph);
}

/** Leaves out the members that prove possession, because the gateway has checked them already. */
function withoutHeaders<T>(schema: z.ZodType, body: T): T {
  const members = shapeMembers(schema);
  const all = Object.entries(body as object);
  const said = all.filter(([name]) => !namedMember(members, name)?.meta.by_header);
  // Bodies are remembered by object (`validBodyOf`), so a body without members to leave out must stay the same object.
  return said.length === all.length ? body : (Object.fromEntries(said) as T);
}

function addArguments(type: Class, noun: z.ZodType, takes: (meta: z.GlobalMeta) => boolean = () => true): void {
  for (const [member, shape] of Object.entries(shapeMembers(noun))) {
    const known = argumentShape(shape);
    if (known.meta.by_header || known.meta.rest_only || !takes(known.meta)) continue;
    addField(type, graphName(member, known), known, () => graphTypeOf(known.inner, known, asked));
  }
}

function addField(type: Class, property: string, known: MemberShape, typeOf: () => object): void {
  const { list, nullable, default_value, meta } = known;
  knowWords(known);
  const options = {
    nullable,
    ...(meta.description && { description: meta.description }),
    // A null that is allowed also means the default, which the schema of the request then fills in.
    ...(default_value !== undefined && !nullable && { defaultValue: default_value }),
  };
  Field(() => (list ? [typeOf() as typeof String] : (typeOf() as typeof String)), options)(type.prototype, property);
}

/** Registers the enum of a member's words, because enums must be registered before the graph is built. */
function knowWords(known: MemberShape): void {
  const { words } = valueMeta(known.inner, known);
  if (words) wordEnum(words);
}

/** Metadata of a member. The metadata of its value, or of the items of a list, takes precedence. */
function valueMeta(inner: z.core.$ZodType, { meta }: MemberShape): z.GlobalMeta {
  return { ...meta, ...z.globalRegistry.get(inner) };
}

function named(name: string): Class {
  return { [name]: class {} }[name] as Class;
}

/** Renames members from the graph to the wire, and converts amounts and times back to text. */
function onWire(schema: z.core.$ZodType, given: Arguments): Record<string, unknown> {
  const sent: Record<string, unknown> = {};
  for (const [member, shape] of Object.entries(shapeMembers(alternativeFor(schema, given)))) {
    const known = argumentShape(shape);
    if (known.meta.by_header || known.meta.rest_only) continue;
    const value = given[graphName(member, known)];
    // A null argument counts as left out, unless null is a value of its own for the member.
    if (value === undefined || (value === null && known.nullable && !known.takes_null)) continue;
    sent[member] = wireValue(known, value);
  }
  return sent;
}

/** Returns the alternative of a discriminated union that the given discriminator names, and any other schema unchanged. */
function alternativeFor(schema: z.core.$ZodType, given: Arguments): z.core.$ZodType {
  if (!(schema instanceof z.ZodDiscriminatedUnion)) return schema;
  const { discriminator, options } = schema.def;
  const named = given[discriminator] as z.core.util.Primitive;
  return options.find(({ _zod }) => _zod.propValues?.[discriminator]?.has(named)) ?? schema;
}

function wireValue(known: MemberShape, value: unknown): unknown {
  if (Array.isArray(value) && known.list) return value.map(item => wireItem(known.inner, item));
  return wireItem(known.inner, value);
}

function wireItem(inner: z.core.$ZodType, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Date) return value.toISOString();
  const is_document = typeof value !== 'object' || value === null || nounOf(inner, asked) === null;
  return is_document ? value : onWire(inner, value as Arguments);
}

const scalars = {
  AtomicAmount: AtomicAmountScalar,
  DateTime: DateTimeScalar,
  JSON: GraphQLJSON,
  JSONObject: GraphQLJSONObject,
  SafeInt: GraphQLSafeInt,
} as const;

/** Type of a member on the graph. @throws Error if the graph has no type for it, or several */
function graphTypeOf(inner: z.core.$ZodType, known: MemberShape, classes: Classes): object {
  const { scalar, words } = valueMeta(inner, known);
  if (scalar !== undefined) return scalars[scalar];
  if (words !== undefined) return wordEnum(words);
  const noun = nounOf(inner, classes);
  if (noun) return onlyClass([...(classes.get(noun) ?? [])]);
  const [alternative] = inner instanceof z.ZodUnion ? inner.options : [];
  if (alternative) return graphTypeOf(memberShape(alternative).inner, known, classes);
  if (inner instanceof z.ZodArray) {
    const item = memberShape(inner.element);
    return [graphTypeOf(item.inner, item, classes)];
  }
  if (inner instanceof z.ZodLiteral && typeof inner.value === 'boolean') return Boolean;
  if (inner instanceof z.ZodLiteral && typeof inner.value === 'number') return Int;
  if (inner instanceof z.ZodString || inner instanceof z.ZodEnum || inner instanceof z.ZodLiteral) return String;
  if (inner instanceof z.ZodISODateTime || inner instanceof z.ZodISODate) return String;
  if (inner instanceof z.ZodBoolean) return Boolean;
  // z.int() makes a number with this format.
  if (inner instanceof z.ZodNumber) return inner.format === 'safeint' ? Int : Float;
  throw new Error(`no type of the graph shows a ${inner._zod.def.type}`);
}

function onlyClass([type, ...others]: readonly Class[]): Class {
  if (type && others.length === 0) return type;
  throw new Error(`a member could be of ${[type, ...others].map(one => one?.name).join(' or ')}: name its type`);
}

/** The noun that a schema is, or that it was derived from: `describe` and `meta` derive a new schema. Null if there is no such noun. */
function nounOf(shape: z.core.$ZodType, classes: Classes): z.core.$ZodType | null {
  if (classes.has(shape)) return shape;
  const { parent } = shape._zod;
  return parent ? nounOf(parent, classes) : null;
}
