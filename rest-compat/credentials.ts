import type { ShownBoardSecrets } from '../schema/board/shared-secret.ts';
import type { JsonObject } from '../schema/canonical-json.ts';
import { sha256Hex } from '../schema/digest.ts';
import { INT_MAX, limits } from '../schema/limits.ts';
import type { ShownProof } from '../schema/proof.ts';
import { isMeantForRouterBook, type ShownIngestKey, shownIngestKey } from '../schema/router/ingest-key.ts';
import { Secret } from '../schema/secret.ts';
import { isMeantForSlice, shownSlice } from '../schema/slice-token.ts';
import type { RequestHeaders } from './door-request.ts';
import type { Credentials, ShownPayment } from './port.ts';

/** Id of no agent. It is looked up like any other, and no possession matches it, so that an invalid id is answered like an unknown one. */
const NO_AGENT = 0;

/** The id of the agent that a path names. */
export function agentOf(segment: string | undefined): number {
  if (segment === undefined || !/^[1-9][0-9]{0,9}$/.test(segment)) return NO_AGENT;
  return Number(segment) <= INT_MAX ? Number(segment) : NO_AGENT;
}

/**
 * Reads all credentials of a request. The body takes precedence over the headers, because it was written for this request. `proven`: the
 * agent that a proof would be for and the request that it is bound to; null if no agent is named, so that a proof proves nothing.
 * `slice_token` is only passed on as its hash. If the endpoint is opened by the board's inbound secret, the bearer token is that secret
 * (`bearer_is_inbound`) and not an API key.
 */
export function credentialsIn(
  headers: RequestHeaders,
  body: JsonObject,
  proven: Pick<ShownProof, 'agent_id' | 'request'> | null,
  address: string,
  slice_token: string | null = sliceTokenIn(headers),
  bearer_is_inbound = false,
): Credentials {
  const proof = text(body.proof) ?? text(headers['x-svc-proof']);
  const agent = headers['x-svc-agent'];
  // A paid call that ignored a proof without an agent would be recorded on another book than the caller meant.
  const of = proven ?? (spends(headers) ? { agent_id: NO_AGENT, request: null } : null);
  return {
    sessions: sessionsShown(headers, body),
    agent: agent === undefined ? null : agentOf(String(agent)),
    proof: of === null || proof === null ? null : { ...of, value: proof, nonce: presentHeader(headers['x-svc-nonce']) },
    api_key: bearer_is_inbound ? text(headers['x-api-key']) : apiKeyIn(headers),
    slice: slice_token === null ? null : shownSlice(slice_token),
    ingest_key: ingestKeyIn(headers),
    board_secrets: boardSecretsIn(headers, bearer_is_inbound),
    payment: paymentIn(headers),
    router_key: routerKey(headers['x-router-key']),
    redelivery: text(headers['x-svc-redeliver']),
    idempotency_key: presentHeader(headers['idempotency-key']),
    delegation: presentHeader(headers['x-svc-delegation']),
    note: presentHeader(headers['x-svc-note']),
    address,
  };
}

/**
 * An empty session together with a payment or key counts as an invalid one: a client whose variable is unset would otherwise pay for a call
 * that is recorded on no book. Without a payment it counts as absent.
 */
function sessionsShown(headers: RequestHeaders, body: JsonObject): readonly string[] {
  const shown = sessionsIn(text(body.session) ?? text(headers['x-svc-session']));
  const is_empty = shown.length === 0 && typeof (body.session ?? headers['x-svc-session']) === 'string';
  return is_empty && spends(headers) ? [''] : shown;
}

/** Whether the request carries a payment or a key, valid or not. */
export function spends(headers: RequestHeaders): boolean {
  return paymentIn(headers) !== null || apiKeyIn(headers) !== null;
}

/** A repeated header is one list, joined by commas (RFC 9110 5.3). Sessions contain no comma. */
export function sessionsIn(shown: string | null): readonly string[] {
  const sessions = shown?.split(',').map(session => session.trim());
  return [...new Set(sessions?.filter(session => session !== ''))];
}

/** An empty header counts as present: a proof that is bound to it is wrong, and it is an invalid key. */
function presentHeader(header: RequestHeaders[string]): string | null {
  return header === undefined ? null : String(header);
}

/** The payment header is PAYMENT-SIGNATURE in x402 v2 and X-PAYMENT in v1. If both are present, v2 applies. */
export function paymentIn(headers: RequestHeaders): ShownPayment | null {
  const v2 = text(headers['payment-signature']);
  if (v2 !== null) return { x402_version: 2, header: v2 };
  const v1 = text(headers['x-payment']);
  return v1 === null ? null : { x402_version: 1, header: v1 };
}

/** Slice tokens and the keys of router books are no API keys, so a caller with one of them pays like any other. */
function apiKeyIn(headers: RequestHeaders): string | null {
  const shown = bearer(headers.authorization);
  const meant_elsewhere = shown === null || isMeantForSlice(shown) || isMeantForRouterBook(shown);
  return meant_elsewhere ? text(headers['x-api-key']) : shown;
}

/** Recognized by its form, and passed on as its hash. */
export function ingestKeyIn({ authorization }: RequestHeaders): ShownIngestKey | null {
  const shown = bearer(authorization);
  return shown !== null && isMeantForRouterBook(shown) ? shownIngestKey(shown) : null;
}

/** The headers take precedence. With a header, the bearer token is ignored, so that it cannot make up for a wrong secret. */
function boardSecretsIn(headers: RequestHeaders, bearer_is_inbound: boolean): ShownBoardSecrets {
  const ops = presentHeader(headers['x-svc-board-ops']);
  const inbound =
    presentHeader(headers['x-svc-board-inbound']) ?? (bearer_is_inbound ? bearer(headers.authorization) : null);
  return {
    ...(ops === null ? {} : { ops: sha256Hex(ops) }),
    ...(inbound === null ? {} : { inbound: sha256Hex(inbound) }),
  };
}

/** Recognized by its form. */
export function sliceTokenIn({ authorization }: RequestHeaders): string | null {
  const shown = bearer(authorization);
  return shown !== null && isMeantForSlice(shown) ? shown : null;
}

/** The name of the scheme is case-insensitive (RFC 9110 11.1). */
export function bearer(authorization: RequestHeaders[string]): string | null {
  return text(authorization)?.match(/^bearer +(\S+) *$/i)?.[1] ?? null;
}

/**
 * A single word without spaces, because it is sent on in a header of this service, and two headers would have been joined by a comma and a
 * space.
 */
function routerKey(header: RequestHeaders[string]): Credentials['router_key'] {
  const key = text(header);
  return key !== null && key.length <= limits.router_key_chars_max && /^[!-~]+$/.test(key) ? new Secret(key) : null;
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
