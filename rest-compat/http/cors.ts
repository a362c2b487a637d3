import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { exposedHeaders } from '../faces/openapi-headers.ts';
import { ownHeaders } from '../request-headers.ts';

/** Origins whose pages may call: all, or the listed ones, as browsers serialize them (RFC 6454 §6.2). */
export type Origins = '*' | ReadonlySet<string>;

export function originsOf(listed: readonly string[]): Origins {
  return listed.includes('*') ? '*' : new Set(listed);
}

/**
 * Headers that pages may send. The list does not protect anything, because callers are identified by credentials and never by a cookie; `*`
 * allows all others. Browsers without support for `*` read the names, and `authorization` always has to be named (Fetch, CORS non-wildcard
 * request-header name).
 */
const allowedHeaders = [
  'authorization, content-type',
  ...ownHeaders,
  'a2a-version, a2a-extensions, x-a2a-extensions',
  'anthropic-version, anthropic-beta, anthropic-dangerous-direct-browser-access',
  // The official x402 client sends this response header in its requests.
  'access-control-expose-headers',
  'mcp-protocol-version, mcp-session-id, mcp-method, mcp-name',
  'traceparent, tracestate, x-request-id, if-none-match, cache-control, last-event-id',
  // Apollo's clients send one of these to show that a preflight allowed it.
  'apollo-require-preflight, x-apollo-operation-name',
  '*',
].join(', ');

/** The longest that Chromium accepts; Firefox would accept a day. */
const PREFLIGHT_SECONDS = 7_200;

/** Whether a request is a preflight (Fetch, CORS-preflight request). */
export function isPreflight({ method, headers }: { method?: string; headers: IncomingHttpHeaders }): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

/**
 * Headers that let a page read the answer. With `*` every answer has the same, because a cache could send a page what it stored for others
 * (Fetch, CORS protocol and HTTP caches). Only pages of another origin need the long list of exposed headers.
 */
export function accessControl({ origin }: IncomingHttpHeaders, origins: Origins): Readonly<Record<string, string>> {
  const allowed = origins === '*' ? '*' : origin !== undefined && origins.has(origin) ? origin : null;
  if (allowed === null) return {};
  const named = { 'access-control-allow-origin': allowed };
  return origin === undefined ? named : { ...named, 'access-control-expose-headers': exposedHeaders };
}

/** Headers of a preflight for a path with these methods, or for an unknown path. */
export function preflight(
  headers: IncomingHttpHeaders,
  origins: Origins,
  methods?: unknown,
): Readonly<Record<string, string>> {
  const { 'access-control-allow-origin': allowed } = accessControl(headers, origins);
  if (allowed === undefined) return {};
  return {
    'access-control-allow-origin': allowed,
    // GET and POST work on any path, because they are CORS-safelisted methods.
    ...(typeof methods === 'string' ? { 'access-control-allow-methods': methods } : {}),
    'access-control-allow-headers': allowedHeaders,
    'access-control-max-age': String(PREFLIGHT_SECONDS),
  };
}

/**
 * Adds CORS headers to every answer of `app`, including refusals and unknown paths. @fastify/cors is not used: its OPTIONS route takes
 * precedence over the routes here, which know the methods of each path; it sends Expose-Headers to all clients, and `Vary: Origin` whenever
 * there is more than one origin.
 */
export function openToOrigins(app: FastifyInstance, origins: Origins): void {
  const depends = origins !== '*' && origins.size > 0;
  app.addHook('onSend', ({ method, headers }, reply, _payload, done) => {
    const asks = isPreflight({ method, headers });
    reply.headers(asks ? preflight(headers, origins, reply.getHeader('allow')) : accessControl(headers, origins));
    if (depends) varyOnOrigin(reply);
    done();
  });
}

function varyOnOrigin(reply: FastifyReply): void {
  const others = reply.getHeader('vary');
  if (!/\borigin\b/i.test(String(others ?? ''))) reply.header('vary', others ? `${others}, Origin` : 'Origin');
}
