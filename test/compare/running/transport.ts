import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment } from '@x402/fetch';
import { print } from 'graphql';
import type { DocumentDoor, Door, DoorMethod } from '../../../rest-compat/door.ts';
import type { ChosenOperation } from '../../../rest-compat/door-operation.ts';
import { everyDoor } from '../../../rest-compat/every-door.ts';
import { filesInZip, isZip } from '../../../schema/audit/zip.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { Account } from './fixed-service.ts';

/* Calls an endpoint by REST, or its operation on the graph, and reads the answer. */

export interface DoorCall {
  readonly door: string;
  readonly method?: DoorMethod;
  readonly params?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
  /** A form to send in place of the body, by REST only. */
  readonly form?: FormData;
  /** Wallet that pays a 402. */
  readonly payer?: Account;
}

export interface TransportAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, Json>>;
  /** The body of the REST answer. On the graph the endpoint's row converts the answer into it. */
  readonly body: Json;
  /** The payment header, which can be sent again. */
  readonly payment?: Readonly<Record<string, string>>;
  /** All answers in order, including a 402 before its payment. */
  readonly exchanges: readonly JsonObject[];
}

export type Transport = (url: string, call: DoorCall) => Promise<TransportAnswer>;

const byName = new Map(everyDoor.map(door => [door.name, door]));

export function doorByName(name: string): Door {
  const door = byName.get(name);
  if (!door) throw new Error(`there is no endpoint ${name}`);
  return door;
}

/** Calls the endpoint by REST. */
export const byRest: Transport = async (url, call) => {
  const door = doorByName(call.door);
  const method = call.method ?? door.methods[0] ?? 'GET';
  const path = pathWith(door.path, call.params ?? {});
  const query = new URLSearchParams(call.query).toString();
  const typed = call.form || method === 'GET' ? {} : { 'content-type': 'application/json' };
  const sent = method === 'GET' ? {} : { body: call.form ?? JSON.stringify(call.body ?? {}) };
  const init = { method, headers: { ...typed, ...call.headers }, ...sent };
  return exchange(url + path + (query && `?${query}`), init, call, body => body);
};

/** Headers that are arguments on the graph, or that select a form that the graph does not have. */
const ARGUMENTS = /^(x-svc-(intent|attempt|parent|payer|approval)|accept)$/i;

/** Calls the endpoint's operation on the graph, or REST if there is none: for an upload, a stream or a page. */
export const byGraph: Transport = async (url, call) => {
  const door = doorByName(call.door);
  if (door.kind !== 'document' || call.form) return byRest(url, call);
  const { params = {}, query = {}, body = {}, headers = {} } = call;
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const texts = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]));
  const operation = operationOf(door, { params: texts, query, headers: lower, body });
  if (operation === null || operation.stream !== null) return byRest(url, call);
  const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => !ARGUMENTS.test(name)));
  const asks = { query: print(operation.document), variables: operation.variables };
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...kept },
    body: JSON.stringify(asks),
  };
  return exchange(`${url}/graphql`, init, call, answer => {
    const data = isJsonObject(answer) && isJsonObject(answer.data) ? answer.data : null;
    return data === null || data.answer === null ? answer : door.answer(data, operation.variables);
  });
};

/** The operation of a request. Null if the endpoint refuses the request before the graph receives it. */
function operationOf(door: DocumentDoor, request: Parameters<DocumentDoor['operation']>[0]): ChosenOperation | null {
  try {
    return door.operation(request);
  } catch (fault) {
    if (fault instanceof Refusal) return null;
    throw fault;
  }
}

async function exchange(
  url: string,
  init: RequestInit,
  { payer }: DoorCall,
  asRest: (answer: Json) => Json,
): Promise<TransportAnswer> {
  const heard: JsonObject[] = [];
  let payment: Readonly<Record<string, string>> | undefined;
  const listening = async (...given: Parameters<typeof fetch>) => {
    const [input, init = {}] = given;
    const paid = (input instanceof Request ? input.headers : new Headers(init.headers)).get('PAYMENT-SIGNATURE');
    if (paid !== null) payment = { 'PAYMENT-SIGNATURE': paid };
    const answer = await fetch(...given);
    heard.push(await read(answer.clone()));
    return answer;
  };
  const send = payer ? wrapFetchWithPayment(listening as typeof fetch, clientOf(payer)) : listening;
  const answer = await send(url, init);
  await answer.body?.cancel();
  const last = heard.at(-1) as unknown as { status: number; headers: Record<string, Json>; body: Json };
  return { ...last, body: asRest(last.body), exchanges: heard, ...(payment && { payment }) };
}

/** Raises the client's limit of one dollar a call, because jobs cost more. */
function clientOf(payer: Account): x402Client {
  return new x402Client()
    .setSpendControls({ maxAmountPerPayment: '$30' })
    .register('eip155:*', new ExactEvmScheme(payer));
}

/** Headers that describe the answer, except those of the connection, of time and of rate limits. */
const TELLING = /^(x-svc-|payment-|x-payment-|content-type$|cache-control$|etag$|retry-after$|location$|link$)/;
const ENCODED = /^(payment-|x-payment-)/;

async function read(answer: Response): Promise<JsonObject> {
  const bytes = Buffer.from(await answer.arrayBuffer());
  const type = answer.headers.get('content-type') ?? '';
  const headers = [...answer.headers].filter(([name]) => TELLING.test(name));
  return {
    status: answer.status,
    headers: Object.fromEntries(headers.map(([name, value]) => [name, ENCODED.test(name) ? decoded(value) : value])),
    body: bodyOf(type, bytes),
  };
}

function decoded(value: string): Json {
  return JSON.parse(Buffer.from(value, 'base64').toString('utf8')) as Json;
}

function bodyOf(type: string, bytes: Buffer): Json {
  if (bytes.length === 0) return null;
  if (/ndjson/.test(type)) return bytes.toString('utf8');
  if (/json/.test(type)) return JSON.parse(bytes.toString('utf8')) as Json;
  if (/^text\/|xml/.test(type)) return bytes.toString('utf8');
  const files = isZip(bytes) ? filesInZip(bytes) : null;
  if (files === null) return { base64: bytes.toString('base64') };
  return Object.fromEntries([...files].map(([name, content]) => [name, fileText(content)]));
}

function fileText(content: Uint8Array): Json {
  const text = Buffer.from(content).toString('utf8');
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** The path with its parameters filled in. */
function pathWith(path: string, params: Readonly<Record<string, string | number>>): string {
  return path.replace(/\{(\w+)\}|\*/g, (whole, name: string) => {
    const value = params[name ?? 'path'];
    if (value === undefined) throw new Error(`${path} names ${whole}, and nothing stands for it`);
    return String(value);
  });
}
