import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorCode } from '../../schema/errors.ts';
import { limits } from '../../schema/limits.ts';
import { problem } from '../problem.ts';
import { accessControl, isPreflight, type Origins, preflight } from './cors.ts';

const unsniffed = { 'x-content-type-options': 'nosniff' };

/** Errors that Fastify finds in a URL before any route or hook: an invalid escape, a segment that is too long. */
function badUrlHandler(origins: Origins) {
  return (error: FastifyError, request: FastifyRequest, reply: FastifyReply): void => {
    // A page could not read this response without an answer to its preflight.
    if (isPreflight(request.raw)) {
      reply
        .code(204)
        .headers({ ...unsniffed, ...preflight(request.headers, origins) })
        .send();
      return;
    }
    const long = error.code === 'FST_ERR_MAX_PARAM_LENGTH';
    const { status, headers, body } = problem({ code: long ? 'not_found' : 'invalid_request' });
    reply
      .code(status)
      .headers({ ...headers, ...unsniffed, ...accessControl(request.headers, origins) })
      .send(body);
  };
}

/** Errors that Node's parser finds before there is a request, by code. */
const clientFaults: Readonly<Record<string, ErrorCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'request_too_large',
};

/** Not logged, because the error contains the packet with sessions, keys and payments. */
function badClientHandler(origins: Origins) {
  return (error: Error & { readonly code?: string }, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || socket.destroyed) return;
    if (socket.writable) socket.write(rawAnswer(clientFaults[error.code ?? ''] ?? 'invalid_request', origins));
    socket.destroy(error);
  };
}

/** If only some origins are allowed, the origin of this request is unknown, because its headers were not read. */
function rawAnswer(code: ErrorCode, origins: Origins): string {
  const { status, headers, body } = problem({ code });
  const text = body ?? '';
  const own = {
    ...headers,
    ...unsniffed,
    ...accessControl({}, origins),
    'content-length': String(Buffer.byteLength(text)),
  };
  const lines = Object.entries({ ...own, connection: 'close' }).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', text].join('\r\n');
}

/** Options of the Fastify server for these endpoints. */
export const doorServerOptions = {
  routerOptions: { ignoreTrailingSlash: true, maxParamLength: limits.path_parameter_chars_max },
  ...badRequestHandlers(new Set()),
  requestTimeout: limits.request_ms_max,
  connectionTimeout: limits.connection_silent_ms_max,
  keepAliveTimeout: limits.connection_idle_ms_max,
  http: {
    maxHeaderSize: limits.request_headers_bytes_max,
    // Node's default is longer than the request timeout here, and the longer of the two would apply.
    headersTimeout: limits.request_headers_ms_max,
    connectionsCheckingInterval: limits.request_checked_every_ms,
  },
};

/** The same, for a server that pages of these origins may call. */
export function badRequestHandlers(origins: Origins) {
  return { frameworkErrors: badUrlHandler(origins), clientErrorHandler: badClientHandler(origins) };
}
