import type { Json, JsonObject } from '../../../schema/canonical-json.ts';
import { isJsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import { limits } from '../../../schema/limits.ts';
import { callDoor, type DoorOutcome } from '../../call.ts';
import { paymentIn } from '../../credentials.ts';
import type { RestLayer } from '../../door.ts';
import {
  type Body,
  type BodySource,
  type DoorRequest,
  type RequestHeaders,
  unknownHeader,
} from '../../door-request.ts';
import { malformedBody, noRoom, tooLarge } from '../../http/body.ts';
import { faultBeside, problem } from '../../problem.ts';
import { toolHeaders } from '../../request-headers.ts';
import type { Upload } from '../../upload.ts';
import { type PlacedArguments, placeArguments } from './argument-places.ts';
import { bounds } from './bounds.ts';
import { metaOf } from './json-rpc.ts';
import { paymentHeader } from './payment-meta.ts';
import type { Tool } from './tool.ts';

/** Headers of a request to /mcp that are passed on to the endpoint of a tool: credentials and attribution. */
const forwardedHeaders = ['authorization', ...toolHeaders];

export interface ToolCaller {
  readonly headers: RequestHeaders;
  readonly address: string;
  /** Size of the whole message, which limits each of its parts. */
  readonly bytes: number;
  /** Called when the file has been removed from the message. */
  readonly onFileTaken?: (() => void) | undefined;
}

/** Calls the endpoint of a tool as by REST, with the same checks. Throws only for internal errors. */
export async function callTool(
  tool: Tool,
  params: JsonObject,
  caller: ToolCaller,
  layer: RestLayer,
): Promise<DoorOutcome> {
  const given = params.arguments ?? {};
  const refused = (param: string, detail: string) =>
    besideMeta(new Refusal('invalid_request', { param, detail }), tool, params, layer);
  if (!isJsonObject(given)) return refused('arguments', 'arguments must be an object.');
  if (tool.door.event !== null && given.stream === true)
    return refused('stream', 'stream is not supported for tools: the answer is sent in one piece.');
  try {
    const request = requestOf(placeArguments(tool.door, tool.places, given), metaOf(params), caller);
    return await callDoor(tool.door, request, layer);
  } catch (fault) {
    if (!(fault instanceof Refusal)) throw fault;
    return refused(String(fault.extensions.param), fault.message);
  }
}

/** As at the endpoint: even if the call does not reach it, its payment may have been charged by an earlier attempt. */
async function besideMeta(
  refusal: Refusal,
  { door }: Tool,
  params: JsonObject,
  { port }: RestLayer,
): Promise<DoorOutcome> {
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
  // An unknown header is passed on too, so that the endpoint refuses it by name.
  const unknown = unknownHeader(headers);
  const names = unknown === undefined ? forwardedHeaders : [...forwardedHeaders, unknown];
  const passed = Object.fromEntries(names.flatMap(name => (headers[name] ? [[name, headers[name]]] : [])));
  return {
    method,
    params,
    query,
    address,
    // MCP answers an invalid payment with the price (x402, transports-v2/mcp.md, "Error Handling").
    unreadable_is_unpaid: true,
    headers: {
      // Asks for JSON where an endpoint also has a page.
      accept: 'application/json',
      ...passed,
      ...shown,
      ...paymentHeader(meta),
    },
    // Has the endpoint refuse a message that is too long for a tool without a file.
    body: method === 'GET' && bytes <= bounds.message_bytes_max ? null : bodySource(caller, body),
  };
}

/** The arguments as a body. Their message has been counted and limited when it was read. */
function bodySource({ bytes, onFileTaken }: ToolCaller, body: JsonObject): BodySource {
  return {
    expectedBytes: () => 0,
    async read({ takes, body_bytes_max }, upload): Promise<Body> {
      if (takes === 'multipart/form-data') return withFile(body, upload, { bytes, onFileTaken });
      if (bytes > bounds.message_bytes_max) return tooLarge;
      if (bytes > body_bytes_max && Buffer.byteLength(JSON.stringify(body)) > body_bytes_max) return tooLarge;
      return { kind: 'json', value: body };
    },
  };
}

/**
 * Hands the file to the upload of a form, and names it in the body by its id. The rest of the message is within the limit for messages
 * without a file or for the fields of a form.
 */
function withFile(
  { file, ...body }: JsonObject,
  upload: Upload,
  { bytes: message_bytes, onFileTaken }: Pick<ToolCaller, 'bytes' | 'onFileTaken'>,
): Body {
  if (!isFile(file)) return malformedBody('file must have the members name and base64.');
  const bytes = Buffer.byteLength(file.base64, 'base64');
  if (bytes === 0) return malformedBody('The file is empty.');
  const beside_bytes_max = limits.upload_form_bytes_max - limits.upload_file_bytes_max;
  const is_long = message_bytes > bounds.message_bytes_max;
  if (is_long && message_bytes - file.base64.length > beside_bytes_max) return tooLarge;
  if (bytes > limits.upload_file_bytes_max) return tooLarge;
  if (!upload.take(Buffer.from(file.base64, 'base64'))) return noRoom;
  // Frees the longest part of the message, which may be referenced for the rest of the call.
  file.base64 = '';
  onFileTaken?.();
  return { kind: 'json', value: { ...body, file: { upload: upload.id, name: file.name, media_type: mediaOf(file) } } };
}

function isFile(file: Json | undefined): file is { readonly name: string; base64: string } {
  return isJsonObject(file) && typeof file.name === 'string' && typeof file.base64 === 'string';
}

function mediaOf(file: JsonObject): string {
  return typeof file.media_type === 'string' ? file.media_type : '';
}
