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

/** Whom a path names that can be no agent's: looked up like any other, and opened by no possession. */
const NOBODY = 0;

/** The agent that a path names. */
export function agentOf(segment: string | undefined): number {
  if (segment === undefined || !/^[1-9][0-9]{0,9}$/.test(segment)) return NOBODY;
  return Number(segment) <= INT_MAX ? Number(segment) : NOBODY;
}

/**
 * What the body names goes before the headers, since it was written for this request. `proven` is the agent that a proof
 * would be of, and what it was asked for; null where no agent is named, and then a proof is of nothing. `slice_token` comes
 * by a header, or by what the door says; from here on it is known by its hash alone. Where the door is opened by the board's
 * inbound secret, a bearer shows that (`bearer_is_inbound`), and is no key of anything else.
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
  // Left out of a call that spends, the proof would be that of nobody, and the call land on another book than was meant.
  const of = proven ?? (spends(headers) ? { agent_id: NOBODY, request: null } : null);
  return {
    sessions: sessionsShown(headers, body),
    agent: agent === undefined ? null : agentOf(String(agent)),
    proof: of === null || proof === null ? null : { ...of, value: proof, nonce: given(headers['x-svc-nonce']) },
    api_key: bearer_is_inbound ? text(headers['x-api-key']) : apiKeyIn(headers),
    slice: slice_token === null ? null : shownSlice(slice_token),
    ingest_key: ingestKeyIn(headers),
    board_secrets: boardSecretsIn(headers, bearer_is_inbound),
    payment: paymentIn(headers),
    router_key: routerKey(headers['x-router-key']),
    redelivery: text(headers['x-svc-redeliver']),
    idempotency_key: given(headers['idempotency-key']),
    delegation: given(headers['x-svc-delegation']),
    note: given(headers['x-svc-note']),
    address,
  };
}

/**
 * An empty one beside a payment or a key is one that opens nothing: whoever left a variable unset would pay, and land on no book. By
 * itself it shows nothing.
 */
function sessionsShown(headers: RequestHeaders, body: JsonObject): readonly string[] {
  const shown = sessionsIn(text(body.session) ?? text(headers['x-svc-session']));
  const is_empty = shown.length === 0 && typeof (body.session ?? headers['x-svc-session']) === 'string';
  return is_empty && spends(headers) ? [''] : shown;
}

function spends(headers: RequestHeaders): boolean {
  return paymentIn(headers) !== null || apiKeyIn(headers) !== null;
}

/** A header that is repeated is one list, joined by commas (RFC 9110 5.3); no session has one in it. */
export function sessionsIn(shown: string | null): readonly string[] {
  const sessions = shown?.split(',').map(session => session.trim());
  return [...new Set(sessions?.filter(session => session !== ''))];
}

/** An empty one is one that was given: bound to it a proof is wrong, and it is no key. */
function given(header: RequestHeaders[string]): string | null {
  return header === undefined ? null : String(header);
}

/** x402 v2 names its header PAYMENT-SIGNATURE, v1 X-PAYMENT; a client that sends both speaks v2. */
export function paymentIn(headers: RequestHeaders): ShownPayment | null {
  const v2 = text(headers['payment-signature']);
  if (v2 !== null) return { x402_version: 2, header: v2 };
  const v1 = text(headers['x-payment']);
  return v1 === null ? null : { x402_version: 1, header: v1 };
}

/** Neither a slice token nor a router book's key is an API key: whoever shows one is sold what anybody is. */
function apiKeyIn(headers: RequestHeaders): string | null {
  const shown = bearer(headers.authorization);
  const meant_elsewhere = shown === null || isMeantForSlice(shown) || isMeantForRouterBook(shown);
  return meant_elsewhere ? text(headers['x-api-key']) : shown;
}

/** By its spelling, as its digest. */
export function ingestKeyIn({ authorization }: RequestHeaders): ShownIngestKey | null {
  const shown = bearer(authorization);
  return shown !== null && isMeantForRouterBook(shown) ? shownIngestKey(shown) : null;
}

/** Their own headers go first: what a bearer shows beside one is not looked at, so that a wrong one is not made up for. */
function boardSecretsIn(headers: RequestHeaders, bearer_is_inbound: boolean): ShownBoardSecrets {
  const ops = given(headers['x-svc-board-ops']);
  const inbound = given(headers['x-svc-board-inbound']) ?? (bearer_is_inbound ? bearer(headers.authorization) : null);
  return {
    ...(ops === null ? {} : { ops: sha256Hex(ops) }),
    ...(inbound === null ? {} : { inbound: sha256Hex(inbound) }),
  };
}

/** By its spelling, among all that a bearer may show. */
export function sliceTokenIn({ authorization }: RequestHeaders): string | null {
  const shown = bearer(authorization);
  return shown !== null && isMeantForSlice(shown) ? shown : null;
}

/** RFC 9110 11.1: the scheme's name is case-insensitive. */
export function bearer(authorization: RequestHeaders[string]): string | null {
  return text(authorization)?.match(/^bearer +(\S+) *$/i)?.[1] ?? null;
}

/** One word: it goes on in a header of ours. Two of them would have been joined by a comma and a space. */
function routerKey(header: RequestHeaders[string]): Credentials['router_key'] {
  const key = text(header);
  return key !== null && key.length <= limits.router_key_chars_max && /^[!-~]+$/.test(key) ? new Secret(key) : null;
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
