import { print } from 'graphql';
import type { DocumentDoor, Door } from '../../../rest-compat/door.ts';
import { withoutNulls } from '../../../rest-compat/omit-nulls.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { paidBy, sendMessage, toolCall } from '../mcp-message.ts';
import { onGraph } from './on-graph.ts';
import type { Service } from './open-service.ts';

/* How each face is asked for what a door of the table offers, and what it answers. A2A has one door of its own: parity.test.ts. */

/** A request of a door, as each face takes it. */
export interface FaceRequest {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: JsonObject;
  readonly body?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  /** What this request asks for rightly shows nothing signed, though the door may. */
  readonly unsigned?: true;
  /** A form, and the file in it as a tool takes it. GraphQL takes files otherwise: test/doors/audio.test.ts. */
  readonly form?: { readonly data: () => FormData; readonly file: JsonObject };
}

/** What a face answers; null where it does not offer that door. */
export interface Answers {
  readonly rest: Json;
  readonly mcp: Json;
  readonly graphql: Json;
}

/** The good answers of all faces to the same request. */
export async function answersOf(service: Service, door: Door, given: FaceRequest): Promise<Answers> {
  // One after the other: what is bought is bought by the first, and given again to the others.
  const rest = await byRest(service, door, given);
  const mcp = await byMcp(service, door, given);
  return { rest, mcp, graphql: await byGraphql(service, door, given) };
}

/** The request of a door, sent to it. */
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

/** What is structured is an object: a tool says of a text its medium, and names a list. */
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
  // A document that is signed as it stands is text there.
  return typeof answer === 'string' && isJson(door) ? (JSON.parse(answer) as Json) : withoutNulls(answer, door.nulls);
}

/** The operation that a door runs for that request, asked of the graph by whoever asks the door. */
async function askGraph(
  service: Service,
  door: DocumentDoor,
  { params = {}, query = {}, body = {}, headers = {} }: FaceRequest,
) {
  const { document, variables } = door.operation({ params, query, headers, body });
  return { ...(await onGraph(service, print(document), variables, headers)), variables };
}

const isJson = ({ media }: Door): boolean => /^application\/(\w+\+)?json/.test(media);

/** How a request was refused. `param`: the member at fault, where one is named. */
export interface FaceRefusal {
  readonly status: number;
  readonly code: string;
  readonly param?: string;
}

/** At the door: a problem, or on possession an empty body, whose status says it all. */
export async function refusedByRest(service: Service, door: Door, given: FaceRequest): Promise<FaceRefusal> {
  const { status, body } = await knockAt(service, door, given);
  if (isJsonObject(body)) return refusedBy(status, body, isJsonObject(body.error) ? body.error.param : null);
  return { status, code: status === 401 ? 'unauthenticated' : 'forbidden' };
}

/**
 * On the graph. `variables`: where the door would not let the request through to it. What is not there may be null without a fault:
 * that is the answer then.
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
