import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { exposed } from '../faces/openapi-headers.ts';

/** Whose pages may call: everybody's, or those of the origins named, spelt as a browser spells them (RFC 6454 §6.2). */
export type Origins = '*' | ReadonlySet<string>;

export function originsOf(listed: readonly string[]): Origins {
  return listed.includes('*') ? '*' : new Set(listed);
}

/**
 * What clients send beside what every page may send. `*` is for those that nobody here has heard of: whoever calls is known
 * by what they show, never by a cookie, so the list guards nothing. Browsers that do not know `*` read the names, and
 * `authorization` has to be named in any case (Fetch, CORS non-wildcard request-header name).
 */
const allowedHeaders = [
  'authorization, content-type, idempotency-key, payment-signature, x-payment, x-api-key, x-router-key',
  'x-svc-session, x-svc-proof, x-svc-nonce, x-svc-agent, x-svc-intent, x-svc-attempt, x-svc-parent',
  'x-svc-redeliver, x-svc-payer, x-svc-delegation, x-svc-note, x-svc-approval, x-svc-board-ops, x-svc-board-inbound',
  'a2a-version, a2a-extensions, x-a2a-extensions',
  'anthropic-version, anthropic-beta, anthropic-dangerous-direct-browser-access',
  // The official x402 client asks the server by this header what only an answer could say.
  'access-control-expose-headers',
  'mcp-protocol-version, mcp-session-id, mcp-method, mcp-name',
  'traceparent, tracestate, x-request-id, if-none-match, cache-control, last-event-id',
  // Apollo's clients show by one of them that they were allowed to send it.
  'apollo-require-preflight, x-apollo-operation-name',
  '*',
].join(', ');

/** As long as Chromium believes one; Firefox would for a day. */
const PREFLIGHT_SECONDS = 7_200;

/** Whether a browser asks by it what a page may send (Fetch, CORS-preflight request). */
export function isPreflight({ method, headers }: { method?: string; headers: IncomingHttpHeaders }): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

/**
 * What of an answer a page may read. With `*` each answer says so, whoever asked: a cache would otherwise hand a page what
 * it keeps for others (Fetch, CORS protocol and HTTP caches). The list is long, and nobody but a page of another origin has a use for it.
 */
export function accessControl({ origin }: IncomingHttpHeaders, origins: Origins): Readonly<Record<string, string>> {
  const allowed = origins === '*' ? '*' : origin !== undefined && origins.has(origin) ? origin : null;
  if (allowed === null) return {};
  const named = { 'access-control-allow-origin': allowed };
  return origin === undefined ? named : { ...named, 'access-control-expose-headers': exposed };
}

/** What a page may send to a path that takes these methods, or to one of which nobody knows any. */
export function preflight(
  headers: IncomingHttpHeaders,
  origins: Origins,
  methods?: unknown,
): Readonly<Record<string, string>> {
  const { 'access-control-allow-origin': allowed } = accessControl(headers, origins);
  if (allowed === undefined) return {};
  return {
    'access-control-allow-origin': allowed,
    // A path that has none is met by GET and POST all the same: those are CORS-safelisted methods.
    ...(typeof methods === 'string' ? { 'access-control-allow-methods': methods } : {}),
    'access-control-allow-headers': allowedHeaders,
    'access-control-max-age': String(PREFLIGHT_SECONDS),
  };
}

/**
 * Every answer that leaves `app` says which pages may read it, refusals and what is no path of ours included. @fastify/cors
 * does not do: its route for OPTIONS stands in the way of our own, which know the methods of each path; it says
 * Expose-Headers to everybody, and `Vary: Origin` wherever it looks at more than one origin or at the request.
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
