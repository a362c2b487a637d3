import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { canonicalJson, isJsonObject, type JsonObject, jsonObjectIn } from '../../../schema/canonical-json.ts';
import { agentId } from '../../../schema/ids.ts';
import { limits } from '../../../schema/limits.ts';
import type { Principal } from '../../../schema/principal.ts';
import { Secret } from '../../../schema/secret.ts';
import type { NamedWrite, PresentedPayment } from '../../../subgraphs/context.ts';
import type { Vault } from '../../../subgraphs/vault.ts';

const hex64 = z.string().regex(/^[0-9a-f]{64}$/);

const book = { agent_id: z.int().positive().transform(agentId), session_hash: z.string() };

const held = { kind: z.literal('proven'), ...book };

const possession = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('absent') }),
  z.strictObject({ kind: z.literal('wrong') }),
  z.strictObject({
    kind: z.literal('several'),
    books: z.array(z.strictObject(book)).min(1).max(limits.sessions_per_caller_max),
    named: z.int().nullable(),
  }),
  z.discriminatedUnion('by', [
    z.strictObject({ ...held, by: z.literal('session') }),
    z.strictObject({ ...held, by: z.enum(['plain_proof', 'bound_proof']), use: z.null() }),
  ]),
]);

const api_key = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.enum(['absent', 'unknown']) }),
  z.strictObject({ kind: z.enum(['live', 'demo', 'waiver']), hash: hex64 }),
]);

const secret_standing = z.enum(['held', 'wrong']).optional();

/** A slice token or an ingest key, of which only the hash is sent. */
const shown_secret = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('wrong') }),
  z.strictObject({ kind: z.literal('shown'), token_hash: hex64 }),
]);

const principal: z.ZodType<Principal> = z.strictObject({
  possession,
  api_key,
  address: z.string(),
  slice: shown_secret.optional(),
  ingest_key: shown_secret.optional(),
  board: z.strictObject({ ops: secret_standing, inbound: secret_standing }).optional(),
});

const payment: z.ZodType<PresentedPayment> = z.strictObject({
  x402_version: z.union([z.literal(1), z.literal(2)]),
  envelope: z.custom<JsonObject>(isJsonObject),
});

const named_write: z.ZodType<NamedWrite> = z.strictObject({
  mark: z.string(),
  credential_mark: z.string(),
  request_hash: z.string(),
  attempt: z.string(),
});

const shape = z.strictObject({
  /** Name of the receiver. A call for one subgraph is invalid for another. */
  subgraph: z.string(),
  /** The caller, identified by the gateway. A subgraph trusts it and reads no credentials. */
  principal,
  payment: payment.nullable(),
  /** The caller's router key, encrypted, because a call is signed but not secret. */
  router_key_box: z.string().optional(),
  /** Proof of the payer that the payment is its own. */
  redelivery: z.string().optional(),
  /** The Idempotency-Key header as received. */
  idempotency_key: z.string().optional(),
  /** The Idempotency-Key under which the writes of the call run once. */
  named_write: named_write.optional(),
  /** The X-SVC-Delegation header as received. */
  delegation: z.string().optional(),
  /** The X-SVC-Note header as received. */
  note: z.string().optional(),
  /** URL of the endpoint that was called. */
  resource: z.string().optional(),
  at_ms: z.int(),
  /** A different value for each call. */
  nonce: z.string().length(32),
  body_sha256: hex64,
});

/** The facts that a gateway sends to a subgraph with a query, signed with the secret that gateways and subgraphs share. */
export type SubgraphCall = Readonly<z.output<typeof shape>>;

/** Header of a call: its canonical JSON in base64url, a dot, and its HMAC-SHA256 in hex. */
export const CALL_HEADER = 'x-svc-call';

/**
 * Name of a subgraph as the receiver of files. It differs from the name for queries, so that a signature for one is invalid for the other.
 */
export function uploadsOf(subgraph: string): string {
  return `${subgraph}/uploads`;
}

/** Prefix of the signed text, so that no other use of the secret produces a valid signature. */
const PURPOSE = 'svc.subgraph-call.v1\n';

/** The caller in the form that a subgraph receives: without the use of a proof, which the gateway has consumed. */
export function callerForSubgraph(principal: Principal): Principal {
  const { possession } = principal;
  if (possession.kind !== 'proven' || possession.by === 'session') return principal;
  return { ...principal, possession: { ...possession, use: null } };
}

export function callKey(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret));
}

export function signCall(key: KeyObject, call: SubgraphCall): string {
  const text = Buffer.from(canonicalJson(call as unknown as JsonObject)).toString('base64url');
  return `${text}.${mac(key, text).toString('hex')}`;
}

export type ReadCall =
  | { readonly kind: 'read'; readonly call: SubgraphCall }
  | { readonly kind: 'unsigned' }
  /** The call was signed with another secret, or altered. */
  | { readonly kind: 'forged' }
  /** The call is correctly signed but has an unknown form, because its gateway has another version. */
  | { readonly kind: 'unreadable' };

/** Reads the header of a call. The content is parsed only after the signature was verified. */
export function readCall(key: KeyObject, header: string | undefined): ReadCall {
  const [, text, signature] = header?.match(/^([\w-]+)\.([0-9a-f]{64})$/) ?? [];
  if (!text || !signature) return { kind: 'unsigned' };
  if (!timingSafeEqual(mac(key, text), Buffer.from(signature, 'hex'))) return { kind: 'forged' };
  const read = shape.safeParse(jsonObjectIn(Buffer.from(text, 'base64url').toString('utf8')));
  return read.success ? { kind: 'read', call: read.data } : { kind: 'unreadable' };
}

function mac(key: KeyObject, text: string): Buffer {
  return createHmac('sha256', key).update(PURPOSE).update(text).digest();
}

/**
 * Encrypts a caller's router key for the subgraph that uses it. Calls are readable on the wire, so the key is encrypted with the shared
 * secret and for this call only.
 */
export function sealRouterKey(vault: Vault, key: Secret, call: Pick<SubgraphCall, 'subgraph' | 'nonce'>): string {
  return vault.seal(key.reveal(), labelOf(call)).toString('base64url');
}

/** Decrypts the router key of a call. Null if the call has none. @throws if it was encrypted for another call */
export function openRouterKey(vault: Vault, call: SubgraphCall): Secret | null {
  if (call.router_key_box === undefined) return null;
  return new Secret(vault.open(Buffer.from(call.router_key_box, 'base64url'), labelOf(call)).toString());
}

function labelOf({ subgraph, nonce }: Pick<SubgraphCall, 'subgraph' | 'nonce'>): string {
  return `router-key:${subgraph}:${nonce}`;
}
