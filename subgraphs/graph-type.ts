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

/* Types, inputs and arguments of the graph, made of nouns (schema/noun.ts). */

type Class<T extends object = object> = new () => T;

/** Classes of output types and of inputs, by their noun: a member whose schema is such a noun has that type, if there is only one. */
type Classes = WeakMap<z.core.$ZodType, ReadonlySet<Class>>;
const shown: Classes = new WeakMap();
const asked: Classes = new WeakMap();

function addClass(classes: Classes, noun: z.core.$ZodType, type: Class): void {
  classes.set(noun, new Set([...(classes.get(noun) ?? []), type]));
}

/**
 * An object type with the members of a noun, and with those of `on_graph`, which only the graph shows. An entity, which has columns that
 * are not shown, calls `showMembers` instead.
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

/** A type that several subgraphs show parts of, found by the field `key` (Apollo Federation). */
export function withKey<C extends Class>(type: C, key: string): C {
  Directive(`@key(fields: "${key}")`)(type);
  return type;
}

/** Gives members whose schema is this noun a class whose fields are made from another table. */
export function showsNoun(type: Class, noun: z.ZodType): void {
  addClass(shown, noun, type);
}

/** A base class with the members of a noun, for a type that adds others. It shows no field: `showMembers` does. */
export function membersOf<N extends z.ZodObject>(_noun: N): Class<MembersOf<N>> {
  return class {} as Class<MembersOf<N>>;
}

/**
 * Shows the members of a noun as fields of a class, but for `computed` ones, which their resolver shows. `types`: types by member, in place
 * of those that would be made; for a member whose noun several classes show, its class. The class must declare all other members as the
 * noun does.
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
 * A document with the member names of the wire, converted for resolvers: members by their names on the graph, null if absent. Members
 * that the noun does not name are left out. Text becomes an amount or a time if the graph has one; amounts and Dates stay as they are.
 */
export function shownOf<N extends z.ZodObject>(noun: N, document: ShowableAs<N>): MembersOf<N> {
  const given: Readonly<Record<string, unknown>> = document;
  const members: Record<string, unknown> = {};
  for (const { member, name, show } of membersShown(noun)) members[name] = show(given[member] ?? null);
  return members as MembersOf<N>;
}

interface ShownMember {
  readonly member: string;
  /** Its name on the graph. */
  readonly name: string;
  readonly show: (value: unknown) => unknown;
}

/** Computed once for each noun, because every paid answer is converted by it. */
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

/** Converts text to an amount or a time, if the graph has such a scalar. */
function itemShown(known: MemberShape): (value: unknown) => unknown {
  const { inner } = known;
  const { scalar } = valueMeta(inner, known);
  if (scalar === 'AtomicAmount') return value => (typeof value === 'string' ? parseAtomic(value) : value);
  if (scalar === 'DateTime') return value => (typeof value === 'string' ? new Date(value) : value);
  if (scalar !== undefined || !(inner instanceof z.ZodObject)) return value => value;
  return value => (isJsonObject(value) ? shownOf(inner, value) : value);
}

/** The name of the type that `objectType` has made of a noun. @throws Error if there is none, or if there are several */
export function typeNameOf(noun: z.core.$ZodType): string {
  return onlyClass([...(shown.get(nounOf(noun, shown) ?? noun) ?? [])]).name;
}

/** Options of the field resolver of a computed member: its description. @throws Error if the member has none */
export function descriptionOptions({ description }: z.ZodType): { readonly description: string } {
  if (description === undefined) throw new Error('a computed member has no description');
  return { description };
}

/** Arguments or an input as a resolver receives them: by their names on the graph, not validated. `readRequest` reads them. */
export type Arguments = Readonly<Record<string, unknown>>;

/** The same, for a field of a book: `agentId` is present before anything is validated, because possession is required first. */
export type ArgumentsOfBook = Arguments & { readonly agentId: number };

/**
 * An input with the members of a request, without those of `by_header`, `rest_only` and `beside_input`. `others`: nouns that are read
 * from the same input, such as one that requires more of its members.
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

/** The arguments of a field: the members of each of these requests, such as its path and its body. */
export function argumentsType(...nouns: readonly z.ZodType[]): Class<Arguments> {
  const type = named('Arguments');
  ArgsType()(type);
  for (const noun of nouns) addArguments(type, noun);
  return type as Class<Arguments>;
}

/**
 * Validates a request that came as arguments or as an input. `valid_body`, which the context has, is returned instead if an endpoint of
 * this process has validated it by the same schema. @throws Refusal invalid_request, with the member at fault as `param`
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
 * The members as they were given, by their wire names and not validated: for a path that only names something. Bounds and defaults of the
 * noun are not applied.
 */
export function givenMembers<S extends z.ZodType>(schema: S, given: Arguments): z.input<S> {
  return onWire(schema, given) as z.input<S>;
}

/** Name of a member in a refusal: its name on the graph, if it has another one there, in snake_case. */
function argumentName(schema: z.ZodType, member: string): string {
  const { graph } = namedMember(shapeMembers(schema), member)?.meta ?? {};
  return graph === undefined ? member : snake(graph);
}

/** Leaves out the members that prove possession: the gate has checked them. */
function withoutHeaders<T>(schema: z.ZodType, body: T): T {
  const members = shapeMembers(schema);
  const all = Object.entries(body as object);
  const said = all.filter(([name]) => !namedMember(members, name)?.meta.by_header);
  // What is remembered of a body is keyed by the object, so a body without members to leave out must stay the same object.
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
    // If null is allowed, the request fills in the default, because null means the default too.
    ...(default_value !== undefined && !nullable && { defaultValue: default_value }),
  };
  Field(() => (list ? [typeOf() as typeof String] : (typeOf() as typeof String)), options)(type.prototype, property);
}

/** Registers the enum of a member's words, which has to be known before the graph is built. */
function knowWords(known: MemberShape): void {
  const { words } = valueMeta(known.inner, known);
  if (words) wordEnum(words);
}

/** Metadata of a member. That of its value, or of the items of a list, takes precedence. */
function valueMeta(inner: z.core.$ZodType, { meta }: MemberShape): z.GlobalMeta {
  return { ...meta, ...z.globalRegistry.get(inner) };
}

function named(name: string): Class {
  return { [name]: class {} }[name] as Class;
}

/** Members by their wire names instead of those of the graph. Amounts and times are text again. */
function onWire(schema: z.core.$ZodType, given: Arguments): Record<string, unknown> {
  const sent: Record<string, unknown> = {};
  for (const [member, shape] of Object.entries(shapeMembers(alternativeFor(schema, given)))) {
    const known = argumentShape(shape);
    if (known.meta.by_header || known.meta.rest_only) continue;
    const value = given[graphName(member, known)];
    // A null argument counts as left out, unless null has a meaning of its own.
    if (value === undefined || (value === null && known.nullable && !known.takes_null)) continue;
    sent[member] = wireValue(known, value);
  }
  return sent;
}

/** The alternative of a discriminated union that the given discriminator names; any other schema as it is. */
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

/** @throws Error if a noun has a member for which the graph has no type, or several */
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
  // z.int() is a number with a format.
  if (inner instanceof z.ZodNumber) return inner.format === 'safeint' ? Int : Float;
  throw new Error(`no type of the graph shows a ${inner._zod.def.type}`);
}

function onlyClass([type, ...others]: readonly Class[]): Class {
  if (type && others.length === 0) return type;
  throw new Error(`a member could be of ${[type, ...others].map(one => one?.name).join(' or ')}: name its type`);
}

/** The noun that a schema is or was made of: `describe` and `meta` make a new schema of it. */
function nounOf(shape: z.core.$ZodType, classes: Classes): z.core.$ZodType | null {
  if (classes.has(shape)) return shape;
  const { parent } = shape._zod;
  return parent ? nounOf(parent, classes) : null;
}
