import { print } from 'graphql';
import type { Door } from '../../../rest-compat/door.ts';
import { jsonSchema } from '../../../rest-compat/door-schemas.ts';
import { everyDoor } from '../../../rest-compat/every-door.ts';
import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { say, use } from '../mcp-message.ts';
import type { Service } from './open-service.ts';

/* Doors that show something signed, as the table itself says of their answers, and how each face is asked for the same. */

const SIGNED: ReadonlySet<string> = new Set(['issuer_signature', 'co_signature', 'signature', 'jws', 'inflow_claim']);

export const signingDoors: readonly Door[] = everyDoor.filter(({ response }) =>
  showsSigned(jsonSchema(response, 'output') as Json),
);

function showsSigned(shape: Json): boolean {
  if (Array.isArray(shape)) return shape.some(showsSigned);
  if (!isJsonObject(shape)) return false;
  const { properties } = shape;
  const named = isJsonObject(properties) && Object.keys(properties).some(name => SIGNED.has(name));
  return named || Object.values(shape).some(showsSigned);
}

/** All that is signed in an answer, in the order in which it stands there; what is null is not there. */
function signedIn(answer: Json): Json[] {
  if (Array.isArray(answer)) return answer.flatMap(signedIn);
  if (!isJsonObject(answer)) return [];
  const names = Object.keys(answer).sort();
  return names.flatMap(name => {
    const value = answer[name] ?? null;
    if (value === null) return [];
    return SIGNED.has(name) ? [[name, withoutNull(value)]] : signedIn(value);
  });
}

function withoutNull(value: Json): Json {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
}

/** A request of a door, as each face takes it. */
export interface Given {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: JsonObject;
  readonly body?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  /** A form, and the file in it as a tool takes it. GraphQL takes files otherwise: test/doors/audio.test.ts. */
  readonly form?: { readonly data: () => FormData; readonly file: JsonObject };
}

/** What is signed in what each face answers to the same, by the face; null where it does not offer that door. */
export async function signedByFaces(
  service: Service,
  door: Door,
  given: Given,
): Promise<Record<string, string | null>> {
  const faces = { rest: byRest, mcp: byMcp, graphql: byGraphql };
  const found: [string, string | null][] = [];
  // One after the other: what is bought is bought by the first, and given again to the others.
  for (const [face, ask] of Object.entries(faces)) {
    const answer = await ask(service, door, given);
    found.push([face, answer === null ? null : canonicalJson(signedIn(answer))]);
  }
  return Object.fromEntries(found);
}

async function byRest(service: Service, door: Door, { params = {}, query, body, headers, form }: Given): Promise<Json> {
  const path = door.path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '');
  const asked = query ? `${path}?${new URLSearchParams(query as Record<string, string>)}` : path;
  const [method = 'GET'] = body ? door.methods.filter(it => it !== 'GET') : door.methods;
  const sent = form ? { body: form.data() } : body ? { body } : {};
  const heard = await service.knock<Json>(method, asked, {
    headers: { accept: 'application/json', ...headers },
    ...sent,
  });
  if (heard.status >= 300) throw new Error(`${door.name} by REST: ${heard.status} ${heard.text}`);
  return heard.body;
}

async function byMcp({ url }: Service, door: Door, given: Given): Promise<Json> {
  if ('none' in door.tool) return null;
  const { params, query, body, headers: { 'PAYMENT-SIGNATURE': payment, ...headers } = {}, form } = given;
  const meta: JsonObject = payment ? { 'x402/payment': JSON.parse(Buffer.from(payment, 'base64').toString()) } : {};
  const named = { ...params, ...query, ...body, ...(form && { file: form.file }) };
  const heard = await say(url, use(door.tool.name ?? door.name, named, meta), headers);
  const result = heard.body?.result;
  if (!result || result.isError) throw new Error(`${door.name} by MCP: ${heard.text}`);
  return result.structuredContent;
}

async function byGraphql(service: Service, door: Door, given: Given): Promise<Json> {
  if (door.kind === 'page' || given.form) return null;
  const { params = {}, query = {}, body = {}, headers = {} } = given;
  const { document, variables } = door.operation({ params, query, headers, body });
  const heard = await service.post('/graphql', { query: print(document), variables }, headers);
  const data = heard.body.data as JsonObject | undefined;
  if (!data || heard.body.errors) throw new Error(`${door.name} by GraphQL: ${heard.text}`);
  const answer = door.answer(data, variables);
  // A document that is signed as it stands is text there.
  return typeof answer === 'string' && door.media.startsWith('application/json')
    ? (JSON.parse(answer) as Json)
    : answer;
}
