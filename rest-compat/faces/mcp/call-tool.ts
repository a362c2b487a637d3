import type { Json, JsonObject } from '../../../schema/canonical-json.ts';
import { isJsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import { limits } from '../../../schema/limits.ts';
import { callDoor, type DoorOutcome } from '../../call.ts';
import { paymentIn } from '../../credentials.ts';
import type { Face } from '../../door.ts';
import {
  type Body,
  type BodySource,
  type DoorRequest,
  type RequestHeaders,
  unknownHeader,
} from '../../door-request.ts';
import { malformedBody, noRoom, tooLarge } from '../../http/body.ts';
import { faultBeside, problem } from '../../problem.ts';
import type { Upload } from '../../upload.ts';
import { bounds } from './bounds.ts';
import { metaOf } from './json-rpc.ts';
import { paymentHeader } from './payment-meta.ts';
import { type PlacedArguments, placed } from './places.ts';
import type { Tool } from './tool.ts';

/** Of a request to /mcp, what its doors are told as well: who is calling, and on whose behalf. */
const passedOn = [
  'authorization',
  'x-api-key',
  'x-router-key',
  'idempotency-key',
  'x-svc-session',
  'x-svc-proof',
  'x-svc-nonce',
  'x-svc-agent',
  'x-svc-delegation',
  'x-svc-intent',
  'x-svc-attempt',
  'x-svc-parent',
  'x-svc-redeliver',
  'x-svc-note',
];

export interface ToolCaller {
  readonly headers: RequestHeaders;
  readonly address: string;
  /** Of the whole message: no part of it is longer. */
  readonly bytes: number;
  /** Told once the file of the message has gone on: it stands in the message no longer. */
  readonly filed?: (() => void) | undefined;
}

/** Calls the door behind a tool as REST would, through the same gate. Throws for faults of ours alone. */
export async function callTool(tool: Tool, params: JsonObject, caller: ToolCaller, house: Face): Promise<DoorOutcome> {
  const given = params.arguments ?? {};
  const refused = (param: string, detail: string) =>
    besideMeta(new Refusal('invalid_request', { param, detail }), tool, params, house);
  if (!isJsonObject(given)) return refused('arguments', 'arguments is an object.');
  if (tool.door.event !== null && given.stream === true) return refused('stream', 'A tool answers in one piece.');
  try {
    const request = requestOf(placed(tool.door, tool.places, given), metaOf(params), caller);
    return await callDoor(tool.door, request, house);
  } catch (fault) {
    if (!(fault instanceof Refusal)) throw fault;
    return refused(String(fault.extensions.param), fault.message);
  }
}

/** As at the door: a call that never comes to it may show a payment that was charged before. */
async function besideMeta(refusal: Refusal, { door }: Tool, params: JsonObject, { port }: Face): Promise<DoorOutcome> {
  const shown = door.price === null ? null : paymentIn(paymentHeader(metaOf(params)));
  const { headers, ...fault } = faultBeside(await port.besidePayment(refusal, await port.judge(shown, null)));
  return problem(fault, headers, shown !== null);
}

function requestOf(
  { method, params, query, body, headers: shown }: PlacedArguments,
  meta: JsonObject,
  caller: ToolCaller,
): DoorRequest {
  const { headers, address, bytes } = caller;
  // One that nobody reads goes on as well: its door refuses it by name.
  const unknown = unknownHeader(headers);
  const names = unknown === undefined ? passedOn : [...passedOn, unknown];
  const passed = Object.fromEntries(names.flatMap(name => (headers[name] ? [[name, headers[name]]] : [])));
  return {
    method,
    params,
    query,
    address,
    // x402, transports-v2/mcp.md, "Error Handling": whatever is wrong with a payment, its answer says what is asked for.
    unreadable_is_unpaid: true,
    headers: {
      // Where a door could show a page, too, it is asked for what a program reads.
      accept: 'application/json',
      ...passed,
      ...shown,
      ...paymentHeader(meta),
    },
    // What is too long for any tool without a file is told so by each.
    body: method === 'GET' && bytes <= bounds.message_bytes_max ? null : source(caller, body),
  };
}

/** The arguments as a body: what they take was counted and bounded where the message was read, of which they are a part. */
function source({ bytes, filed }: ToolCaller, body: JsonObject): BodySource {
  return {
    expectedBytes: () => 0,
    async read({ takes, body_bytes_max }, upload): Promise<Body> {
      if (takes === 'multipart/form-data') return withFile(body, upload, { bytes, filed });
      if (bytes > bounds.message_bytes_max) return tooLarge;
      if (bytes > body_bytes_max && Buffer.byteLength(JSON.stringify(body)) > body_bytes_max) return tooLarge;
      return { kind: 'json', value: body };
    },
  };
}

/**
 * The file goes where the file of a form would go, and stands in the body as what was said of it. What stands beside it goes nowhere, and
 * its room is given back with that of the file: so there is no more of it than of a message without one, or of the fields of a form.
 */
function withFile(
  { file, ...body }: JsonObject,
  upload: Upload,
  { bytes: message_bytes, filed }: Pick<ToolCaller, 'bytes' | 'filed'>,
): Body {
  if (!isFile(file)) return malformedBody('file has a name and its bytes in base64.');
  const bytes = Buffer.byteLength(file.base64, 'base64');
  if (bytes === 0) return malformedBody('The file is empty.');
  const beside_bytes_max = limits.upload_form_bytes_max - limits.upload_file_bytes_max;
  const is_long = message_bytes > bounds.message_bytes_max;
  if (is_long && message_bytes - file.base64.length > beside_bytes_max) return tooLarge;
  if (bytes > limits.upload_file_bytes_max) return tooLarge;
  if (!upload.take(Buffer.from(file.base64, 'base64'))) return noRoom;
  // Whoever still has the message has not its longest part any more.
  file.base64 = '';
  filed?.();
  return { kind: 'json', value: { ...body, file: { upload: upload.id, name: file.name, media_type: mediaOf(file) } } };
}

function isFile(file: Json | undefined): file is { readonly name: string; base64: string } {
  return isJsonObject(file) && typeof file.name === 'string' && typeof file.base64 === 'string';
}

function mediaOf(file: JsonObject): string {
  return typeof file.media_type === 'string' ? file.media_type : '';
}
