import type { FastifyInstance, FastifyRequest, HTTPMethods } from 'fastify';
import type { DoorOutcome } from '../../call.ts';
import type { RestLayer } from '../../door.ts';
import type { Body } from '../../door-request.ts';
import { expectedBytes, noRoom, notAnObject, readJson } from '../../http/body.ts';
import type { Origins } from '../../http/cors.ts';
import { closeOnUnread, sendOutcome } from '../../serve.ts';
import { answerMessage, fault } from './answer.ts';
import { bounds } from './bounds.ts';
import { hostNameOf, originFault } from './dns-rebinding.ts';
import { FileMessages } from './file-messages.ts';
import { formFor, notAcceptable } from './message-form.ts';
import { defaultListing, listingIn } from './tool-sets.ts';

const PATH = '/mcp';
const ALLOW = 'POST, OPTIONS';
const METHODS: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/**
 * MCP over streamable HTTP: each message is a POST, answered with one JSON object or, if the client asks for progress, with events. As with
 * endpoints the answer is made in `onRequest`, and a body is read only within the limit of its address.
 */
export async function serveMcp(
  app: FastifyInstance,
  layer: RestLayer,
  origins: Origins,
  files = new FileMessages(),
): Promise<void> {
  const accepted = { host_name: hostNameOf(layer.port.base_url) ?? '', origins };
  await app.register(async scope => {
    scope.addHook('onSend', async (request, reply, payload) => closeOnUnread(request, reply, payload));
    scope.setErrorHandler((error, request, reply) => {
      if (!request.raw.destroyed)
        request.log.error({ err: error }, 'a request to /mcp failed with an unexpected error, shown in err');
      return sendOutcome(reply, fault(500, null, { code: 'internal', message: 'Internal error.' }));
    });
    scope.route({
      method: METHODS,
      url: PATH,
      onRequest: async (request, reply) => {
        // The response is not compressed: it may contain both text of the client and a secret (BREACH), and events must not be buffered.
        request.headers['x-no-compression'] = 'a secret';
        if (request.method === 'OPTIONS')
          return sendOutcome(reply, { status: 204, headers: { allow: ALLOW }, body: null });
        const origin_fault = originFault(request.host, request.headers.origin, accepted);
        if (origin_fault !== null)
          return sendOutcome(reply, fault(403, null, { code: 'refused', message: origin_fault }));
        if (request.method !== 'POST') return sendOutcome(reply, notAllowed);
        return sendOutcome(reply, await answerPost(request, layer, files));
      },
      handler: () => undefined,
    });
  });
}

/**
 * GET would open a stream of messages by the server, of which there are none (2025-11-25, "Listening for Messages"). DELETE would end a
 * session, but sessions hold no resources and expire ("Session Management" allows this).
 */
const notAllowed = fault(405, null, { code: 'refused', message: 'Method not allowed.' }, { allow: ALLOW });

/** The response is the same for every client. */
const LONG_AND_PUBLIC = 'tools/list';

const JSON_MEDIA = /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i;

async function answerPost(request: FastifyRequest, layer: RestLayer, files: FileMessages): Promise<DoorOutcome> {
  const { raw, headers } = request;
  const form = formFor(headers.accept);
  if (form === null) return notAcceptable;
  const { 'content-type': media = '', 'content-encoding': coding = 'identity' } = headers;
  if (!JSON_MEDIA.test(media) || coding !== 'identity') {
    return fault(415, null, {
      code: 'refused',
      message: 'The content type must be application/json, without a content encoding.',
    });
  }
  const bytes_max = 'content-length' in headers ? bounds.file_message_bytes_max : bounds.message_bytes_max;
  const bytes = expectedBytes(raw, bytes_max);
  const sent = { request, layer, bytes };
  return form(await (bytes > bounds.message_bytes_max ? answerLong(sent, files) : answerShort(sent)));
}

interface McpRequest {
  readonly request: FastifyRequest;
  readonly layer: RestLayer;
  readonly bytes: number;
}

/** Counts against the body limit of its address until it has been read. */
async function answerShort(sent: McpRequest): Promise<DoorOutcome> {
  const { request, layer, bytes } = sent;
  const release = layer.port.rates.hold(request.ip, bytes);
  if (release === null) return tooManyBodies(layer);
  return answerBody(sent, await readJson(request.raw, bounds.message_bytes_max).finally(release));
}

async function answerLong(sent: McpRequest, files: FileMessages): Promise<DoorOutcome> {
  const { raw, ip } = sent.request;
  const file = await files.begin(ip, raw);
  if (file === null) return tooManyFiles;
  let work: Promise<unknown> = Promise.resolve();
  try {
    return await answerBody(sent, await readJson(raw, bounds.file_message_bytes_max, file).finally(file.markComplete), {
      onFileTaken: file.release,
      // A call with progress begins its response before it is done.
      onWork: run => {
        work = run;
      },
    });
  } finally {
    void work.finally(file.release);
  }
}

async function answerBody(
  { request, layer, bytes }: McpRequest,
  body: Body,
  { onFileTaken, onWork }: { onFileTaken?: () => void; onWork?: (work: Promise<unknown>) => void } = {},
): Promise<DoorOutcome> {
  if (body.kind === 'refused') return bodyFault(body);
  const { headers, ip: address } = request;
  if (body.value.method === LONG_AND_PUBLIC) delete headers['x-no-compression'];
  const onFault = (it: unknown) =>
    request.log.error({ err: it }, 'an MCP tool failed with an unexpected error, shown in err');
  const [, query] = request.url.split('?');
  const listing = query === undefined ? defaultListing : listingIn(new URLSearchParams(query));
  const caller = { headers, address, bytes, onFileTaken };
  return answerMessage(body.value, { caller, layer, listing, onFault, onWork });
}

/** RFC 6585 §4. */
const tooManyFiles = fault(
  429,
  null,
  {
    code: 'refused',
    message: 'This address is sending too many files at once. Try again; if you sent a payment, send the same payment.',
  },
  { 'retry-after': '1' },
);

/** Only 2025-03-26 had batches. 2025-06-18 removed them, and clients of all versions send one message at a time. */
const batchFault = fault(400, null, {
  code: 'invalid_request',
  message: 'A message must be one JSON object. JSON-RPC batches are not supported: send one message at a time.',
});

function tooManyBodies({ port }: RestLayer): DoorOutcome {
  const message =
    'Too many request bodies are being sent from this address at once. Try again when one of them is complete.';
  return fault(429, null, { code: 'refused', message }, { ...port.rates.body_limit_headers, 'retry-after': '1' });
}

function bodyFault(body: Extract<Body, { kind: 'refused' }>): DoorOutcome {
  const { code, detail = 'The message is too long.' } = body;
  if (body === notAnObject) return batchFault;
  if (body === noRoom)
    return fault(503, null, { code: 'refused', message: String(noRoom.detail) }, { 'retry-after': '1' });
  if (code === 'request_too_large') return fault(413, null, { code: 'refused', message: detail });
  return fault(400, null, { code: 'parse_error', message: detail });
}
