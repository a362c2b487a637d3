import { print } from 'graphql';
import type { DocumentDoor, Door } from '../../../rest-compat/door.ts';
import { withoutNulls } from '../../../rest-compat/omit-nulls.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { paidBy, sendMessage, toolCall } from '../mcp-message.ts';
import { onGraph } from './on-graph.ts';
import type { Service } from './open-service.ts';

/*
 * Calls each face (REST, MCP, GraphQL) for a row of the door table and reads its answer. A2A has a separate endpoint, which parity.test.ts
 * calls.
 */

/** A request of an endpoint, in a form from which a request of every face is made. */
export interface FaceRequest {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: JsonObject;
  readonly body?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the answer carries no signature, though other answers of this endpoint do. */
  readonly unsigned?: true;
  /** A form, with its file in the form that a tool takes. For files on GraphQL see test/doors/audio.test.ts. */
  readonly form?: { readonly data: () => FormData; readonly file: JsonObject };
}

/** Answers of each face. Null for a face that does not offer the endpoint. */
export interface Answers {
  readonly rest: Json;
  readonly mcp: Json;
  readonly graphql: Json;
}

/** The successful answers of all faces to the same request. */
export async function answersOf(service: Service, door: Door, given: FaceRequest): Promise<Answers> {
  // In sequence, because the first call buys and the others must receive the same purchase again.
  const rest = await byRest(service, door, given);
  const mcp = await byMcp(service, door, given);
  return { rest, mcp, graphql: await byGraphql(service, door, given) };
}

/** Sends the request to its endpoint. */
function knockAt(service: Service, door: Door, { params = {}, query, body, headers, form }: FaceRequest) {
  const path = door.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const asked = query ? `${path}?${new URLSearchParams(query as Record<string, string>)}` : path;
  const [method = 'GET'] = body ? door.methods.filter(it => it !== 'GET') : door.methods;
  const sent = form ? { body: form.data() } : body ? { body } : {};
  return service.knock<Json>(method, asked, { headers: { accept: 'application/json', ...headers }, ...sent });
}

async function byRest(service: Service, door: Door, given: FaceRequest): Promise<Json> {
  const heard = await knockAt(service, door, given);
  if (heard.status >= 300) throw new Error(`${door.name} by REST: ${heard.status} ${heard.text}`);
  return heard.body;
}

async function byMcp({ url }: Service, door: Door, given: FaceRequest): Promise<Json> {
  if ('none' in door.tool) return null;
  const { params, query, body, headers: { 'PAYMENT-SIGNATURE': payment, ...headers } = {}, form } = given;
  const named = { ...params, ...query, ...body, ...(form && { file: form.file }) };
  const heard = await sendMessage(url, toolCall(door.tool.name ?? door.name, named, paidBy(payment)), headers);
  const result = heard.body?.result;
  if (!result || result.isError) throw new Error(`${door.name} by MCP: ${heard.text}`);
  return unwrapped(result.structuredContent);
}

/** Unwraps the content of a tool, which is always an object: it wraps a text with its media type, and puts a list under `items`. */
function unwrapped(content: JsonObject): Json {
  const names = Object.keys(content).sort().join();
  if (names === 'media_type,text') return content.text ?? null;
  return names === 'items' ? (content.items ?? null) : content;
}

async function byGraphql(service: Service, door: Door, given: FaceRequest): Promise<Json> {
  if (door.kind === 'page' || given.form) return null;
  const { data, errors, text, variables } = await askGraph(service, door, given);
  if (!data || errors) throw new Error(`${door.name} by GraphQL: ${text}`);
  const answer = door.answer(data, variables);
  // A signed document is a string on the graph, so that its bytes stay as they were signed.
  return typeof answer === 'string' && isJson(door) ? (JSON.parse(answer) as Json) : withoutNulls(answer, door.nulls);
}

/** Runs on the graph the operation that the endpoint runs for that request, with the same credentials. */
async function askGraph(
  service: Service,
  door: DocumentDoor,
  { params = {}, query = {}, body = {}, headers = {} }: FaceRequest,
) {
  const { document, variables } = door.operation({ params, query, headers, body });
  return { ...(await onGraph(service, print(document), variables, headers)), variables };
}

const isJson = ({ media }: Door): boolean => /^application\/(\w+\+)?json/.test(media);

/** A refusal. `param` is the member at fault, if one is named. */
export interface FaceRefusal {
  readonly status: number;
  readonly code: string;
  readonly param?: string;
}

/**
 * The refusal by REST: a problem document, or an empty body if possession was not proven, in which case only the status gives the reason.
 */
export async function refusedByRest(service: Service, door: Door, given: FaceRequest): Promise<FaceRefusal> {
  const { status, body } = await knockAt(service, door, given);
  if (isJsonObject(body)) return refusedBy(status, body, isJsonObject(body.error) ? body.error.param : null);
  return { status, code: status === 401 ? 'unauthenticated' : 'forbidden' };
}

/**
 * The refusal by the graph. `variables` must be given if the endpoint would refuse the request before it reaches the graph. Returns null
 * for a missing object, which the graph may answer as null without an error.
 */
export async function refusedByGraph(service: Service, door: DocumentDoor, given: FaceRequest, variables?: JsonObject) {
  const asked = variables
    ? await onGraph(service, print(documentOf(door)), variables, given.headers)
    : await askGraph(service, door, given);
  const { refused, data } = asked;
  if (refused) return refusedBy(Number(refused.status), refused, refused.param);
  return data !== null && Object.values(data).every(value => value === null) ? null : asked.body;
}

function refusedBy(status: number, { code }: JsonObject, param: Json | undefined): FaceRefusal {
  return { status, code: String(code), ...(typeof param === 'string' && { param }) };
}

function documentOf({ name, documents: [document] }: DocumentDoor) {
  if (!document) throw new Error(`${name} runs no document`);
  return document;
}
