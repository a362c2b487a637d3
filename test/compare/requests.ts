import {
  type DocumentNode,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedInputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  Kind,
  parse,
} from 'graphql';
import { pino } from 'pino';
import { type Graph, openGraph } from '../../gateway/graph/open-graph.ts';
import type { DocumentDoor, Door } from '../../rest-compat/door.ts';
import type { ChosenOperation } from '../../rest-compat/door-operation.ts';
import { jsonSchema } from '../../rest-compat/door-schemas.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { faultBeside, problem } from '../../rest-compat/problem.ts';
import type { Json, JsonObject } from '../../schema/canonical-json.ts';
import { Refusal } from '../../schema/errors.ts';
import type { Subgraph } from '../../subgraphs/subgraph.ts';
import { AGENT_ID, examplesOf, validTexts } from './examples.ts';
import { type MemberPlace, placesIn, variantsOf } from './odd-values.ts';
import { nameOf, operationIn, rootField } from './operations.ts';
import { plain, ReachedSignal, recordingContext, resolverOutcome } from './recording-context.ts';

/* The outcome of each request of the corpus, by REST and on the graph. */

/** The outcome of one request. `at` names its endpoint or root field and its change. */
export interface Outcome {
  readonly at: string;
  readonly to: Json;
}

export async function* requests(subgraphs: readonly Subgraph[]): AsyncGenerator<Outcome> {
  const graph = await openGraph(subgraphs, { logger: pino({ level: 'silent' }), introspection: true });
  const doors = everyDoor.filter((door): door is DocumentDoor => door.kind === 'document');
  /** Arguments of valid requests, by root field. */
  const valid = new Map<string, JsonObject[]>();
  for (const door of doors) yield* requestsOf(door, graph, valid);
  for (const kind of ['Query', 'Mutation'] as const) {
    const type = graph.schema.getType(kind);
    if (!type || !('getFields' in type)) continue;
    for (const field of Object.values(type.getFields()) as GraphQLField<unknown, unknown>[])
      yield* argumentsOf(kind, field, graph, valid.get(field.name) ?? [required(field)]);
  }
}

async function* requestsOf(
  door: DocumentDoor,
  graph: Graph,
  valid: Map<string, JsonObject[]>,
): AsyncGenerator<Outcome> {
  const params = paramsOf(door);
  const writes = door.methods.some(method => method !== 'GET');
  const bodies = writes ? examplesOf(door) : [{}];
  const body_places = writes ? placesIn(jsonSchema(door.requests.body, 'input')) : [];
  const query_places = placesIn(jsonSchema(door.requests.query, 'input'));
  for (const [index, body] of bodies.entries()) {
    const at = `REST ${door.name} ${index}`;
    for (const { change, value } of variantsOf(body, body_places)) {
      const { chosen: asked, to } = await byRest(door, graph, { params, query: {}, body: value });
      if (change === 'as it is' && asked) note(asked, valid);
      yield { at: `${at} body ${change}`, to };
    }
  }
  for (const { change, value } of variantsOf({}, query_places)) {
    if (Object.values(value).some(text => typeof text !== 'string') && change !== '+ no_such_member') continue;
    const { to } = await byRest(door, graph, { params, query: value, body: bodies[0] ?? {} });
    yield { at: `REST ${door.name} query ${change}`, to };
  }
}

function note({ document, variables }: ChosenOperation, valid: Map<string, JsonObject[]>): void {
  const { name } = rootField(document);
  valid.set(name.value, [...(valid.get(name.value) ?? []), argumentsBy(document, variables)]);
}

/** Valid values for the endpoint's path parameters. */
function paramsOf({ path, requests: { params } }: Door): Readonly<Record<string, string>> {
  const names = [...path.matchAll(/\{(\w+)\}|\*/g)].map(([all, name]) => name ?? all);
  const fits = (name: string, text: string) => {
    const { error } = params.safeParse({ [name]: text });
    return !error?.issues.some(({ path: [first] }) => first === name || (name === '*' && first === 'path'));
  };
  const candidates = [...validTexts, String(AGENT_ID)];
  return Object.fromEntries(
    names.map(name => [
      name,
      name === 'agent_id' ? String(AGENT_ID) : (candidates.find(text => fits(name, text)) ?? 'x'),
    ]),
  );
}

/** The outcome of a request to an endpoint: its refusal, or the operation that it runs and that operation's outcome. */
async function byRest(
  door: DocumentDoor,
  graph: Graph,
  request: { readonly params: object; readonly query: JsonObject; readonly body: JsonObject },
): Promise<{ readonly chosen: ChosenOperation | null; readonly to: Json }> {
  let asked: ChosenOperation;
  try {
    asked = door.operation({ ...request, headers: {} });
  } catch (fault) {
    if (!(fault instanceof Refusal)) throw fault;
    const { headers, ...said } = faultBeside(fault);
    const { status, body } = problem(said, headers);
    return { chosen: null, to: { status, body: plain(JSON.parse(String(body)) as Json) } };
  }
  const { document, variables, valid_body } = asked;
  const runs = { operation: nameOf(document), arguments: plain(argumentsBy(document, variables)) };
  return { chosen: asked, to: { ...runs, reached: await run(graph, { document, variables, valid_body }) } };
}

/** Arguments of an operation's root field, by name. */
function argumentsBy(document: DocumentNode, variables: JsonObject): JsonObject {
  const given = (rootField(document).arguments ?? []).flatMap(({ name, value }) => {
    if (value.kind !== Kind.VARIABLE) return [];
    const said = variables[value.name.value];
    return said === undefined ? [] : [[name.value, said] as const];
  });
  return Object.fromEntries(given.sort(([one], [other]) => (one < other ? -1 : 1)));
}

interface Run {
  readonly document: DocumentNode;
  readonly variables: JsonObject;
  readonly valid_body?: object;
}

async function run(graph: Graph, { document, variables, valid_body }: Run): Promise<Json> {
  const reached: Json[] = [];
  const operation = { document, variables, context: recordingContext(reached, valid_body) };
  const subscribes = operationIn(document).operation === 'subscription';
  const result = subscribes ? await firstOf(graph, operation) : await graph.execute(operation);
  return resolverOutcome(reached, result);
}

/** Runs a subscription up to its first event. */
async function firstOf(graph: Graph, operation: Parameters<Graph['subscribe']>[0]): Promise<object> {
  const result = await graph.subscribe(operation);
  if (!(Symbol.asyncIterator in result)) return result;
  try {
    const first = await result[Symbol.asyncIterator]().next();
    return first.done ? {} : first.value;
  } catch (fault) {
    if (fault instanceof ReachedSignal) return {};
    throw fault;
  }
}

/** A root field alone, with variants in which one of its arguments, or a member of its inputs, is absent, null or unusual. */
async function* argumentsOf(
  kind: 'Query' | 'Mutation',
  field: GraphQLField<unknown, unknown>,
  graph: Graph,
  valid: readonly JsonObject[],
): AsyncGenerator<Outcome> {
  const document = parse(documentOf(kind, field), { noLocation: true });
  const places = field.args.flatMap(({ name, type }) => inputPlaces(type, [name]));
  for (const [index, base] of valid.entries()) {
    for (const { change, value } of variantsOf(base, places)) {
      yield { at: `${kind}.${field.name} ${index} ${change}`, to: await run(graph, { document, variables: value }) };
    }
  }
}

function documentOf(kind: 'Query' | 'Mutation', { name, args, type }: GraphQLField<unknown, unknown>): string {
  const variables = args.map(arg => `$${arg.name}: ${arg.type}`).join(', ');
  const given = args.map(arg => `${arg.name}: $${arg.name}`).join(', ');
  const selection = isLeafType(getNamedType(type)) ? '' : ' { __typename }';
  const inner = `${name}${given && `(${given})`}${selection}`;
  return `${kind.toLowerCase()} corpus${variables && `(${variables})`} { ${inner} }`;
}

/** Same as `placesIn`, for an input type of the graph. */
function inputPlaces(type: GraphQLInputType, path: MemberPlace['path']): MemberPlace[] {
  if (path.length > PATH_MAX) return [];
  if (isNonNullType(type)) return inputPlaces(type.ofType as GraphQLInputType, path);
  const here = { path, shape: shapeOf(getNamedType(type)) };
  if (isListType(type)) return [here, ...inputPlaces(type.ofType as GraphQLInputType, [...path, 0]).slice(1)];
  if (!isInputObjectType(type)) return [here];
  return [here, ...Object.values(type.getFields()).flatMap(inner => inputPlaces(inner.type, [...path, inner.name]))];
}

const PATH_MAX = 5;

/** The part of a type that determines its unusual values. */
function shapeOf(named: GraphQLNamedInputType): JsonObject {
  if (isEnumType(named)) return { type: 'word', enum: named.getValues().map(({ name }) => name) };
  return named.name in values || isInputObjectType(named) ? { type: named.name } : {};
}

/** Values for a field's required arguments, for a field that no endpoint runs. */
function required({ args }: GraphQLField<unknown, unknown>): JsonObject {
  return Object.fromEntries(
    args.filter(({ type }) => isNonNullType(type)).map(({ name, type }) => [name, valueFor(type, name)]),
  );
}

const values: Readonly<Record<string, Json>> = { Int: 1, Float: 1, Boolean: true };

function valueFor(type: GraphQLInputType, name: string): Json {
  const named = getNamedType(type);
  if (name === 'agentId') return AGENT_ID;
  if (isEnumType(named)) return named.getValues()[0]?.name ?? '';
  if (!isInputObjectType(named)) return values[named.name] ?? '1';
  const members = Object.values(named.getFields()).filter(member => isNonNullType(member.type));
  return Object.fromEntries(members.map(member => [member.name, valueFor(member.type, member.name)]));
}
