import { timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { agentOf } from '../../rest-compat/credentials.ts';
import type { Credentials } from '../../rest-compat/port.ts';
import { holderOf } from '../../schema/address-holder.ts';
import type { BoardSecret, BoardStanding, ShownBoardSecrets } from '../../schema/board/shared-secret.ts';
import { isJsonObject, type JsonObject } from '../../schema/canonical-json.ts';
import { sha256 } from '../../schema/digest.ts';
import { Refusal } from '../../schema/errors.ts';
import { limits } from '../../schema/limits.ts';
import type { ApiKey, HeldBook, Possession, Principal, ProvenBy } from '../../schema/principal.ts';
import type { ProvenRequest, ShownProof } from '../../schema/proof.ts';
import type { Services } from '../../subgraphs/context.ts';
import { requireNotHalted } from '../../subgraphs/receipt/log/halt-guard.ts';
import {
  bookOfProof,
  bookOfSession,
  bookOfSessionHash,
  type DecoyBox,
} from '../../subgraphs/session/possession/check.ts';

/** The configured API keys. A key in two sets counts as the first of live, demo, waiver. */
interface KeySets {
  readonly live: readonly string[];
  readonly demo: readonly string[];
  readonly waiver: readonly string[];
}

/** Finds the set to which a presented key belongs. Only digests are stored and compared. */
type Keyring = (presented: string | null) => ApiKey;

export function openKeyring(sets: KeySets): Keyring {
  const kinds = ['live', 'demo', 'waiver'] as const;
  const known = kinds.flatMap(kind => sets[kind].map(key => ({ kind, digest: sha256(key) })));
  return presented => {
    if (presented === null) return { kind: 'absent' };
    const digest = sha256(presented);
    // All keys are compared, each in constant time, so that the duration shows neither which key matched nor how closely.
    const matches = known.filter(key => timingSafeEqual(key.digest, digest));
    return matches[0] ? { kind: matches[0].kind, hash: digest.toString('hex') } : { kind: 'unknown' };
  };
}

/** The credentials of a caller, from the headers and body of a request or from the opening message of a socket. */
export interface ShownCredentials
  extends Pick<Credentials, 'sessions' | 'agent' | 'proof' | 'api_key' | 'address'>,
    Partial<Pick<Credentials, 'slice' | 'ingest_key' | 'board_secrets'>> {
  /** True if some sessions of the socket have ended since it was opened. Set by this service only. */
  readonly of_several?: boolean;
  /** Hash of the session of a bound proof whose nonce is consumed already. Set by this service only. */
  readonly rests_on?: string;
}

/** The parts that check possession. `decoy` is opened for agents that do not exist, so that the check takes as long for them. */
type Checks = Pick<Services, 'database' | 'vault' | 'clock'> & { readonly decoy: DecoyBox };

/**
 * Identifies the caller. No other place does. A wrong session or proof is an outcome and not an error, and each endpoint decides what it
 * requires. One wrong session of several makes all of them wrong. Nothing is cached, so a rotated session ends at once in every process.
 * @throws invalid_request for more sessions than one caller may show; unavailable (503) for any credential while the log is halted, because
 * the database has gone back and may accept a credential that was revoked
 */
export async function identify(
  shown: ShownCredentials,
  services: Checks & { readonly keyring: Keyring; readonly board_keys: BoardKeys },
): Promise<Principal> {
  if (showsCredential(shown)) requireNotHalted(services.database);
  const board = services.board_keys(shown.board_secrets ?? {});
  return {
    possession: await possessionOf(shown, services),
    api_key: services.keyring(shown.api_key),
    address: holderOf(shown.address),
    // The token itself is checked at each use, by the resource that it opens.
    ...(shown.slice && { slice: shown.slice }),
    ...(shown.ingest_key && { ingest_key: shown.ingest_key }),
    ...(board && { board }),
  };
}

function showsCredential(shown: ShownCredentials): boolean {
  const { sessions, proof, api_key, slice, ingest_key, board_secrets = {}, rests_on } = shown;
  const secrets = [proof, api_key, slice, ingest_key, rests_on, ...Object.values(board_secrets)];
  return sessions.length > 0 || secrets.some(secret => secret !== undefined && secret !== null);
}

async function possessionOf(shown: ShownCredentials, services: Checks): Promise<Possession> {
  const { sessions, proof, rests_on } = shown;
  if (rests_on !== undefined) return possessionByBoundProof(await bookOfSessionHash(services.database, rests_on));
  if (sessions.length === 0 && proof === null) return { kind: 'absent' };
  if (sessions.length > limits.sessions_per_caller_max) throw new Refusal('invalid_request', { detail: TOO_MANY });
  // Concurrent look-ups are combined into one query.
  const bySessions = await Promise.all(sessions.map(session => bookOfSession(services.database, session)));
  const books = bySessions.filter(held => held !== null);
  if (books.length < sessions.length) return { kind: 'wrong' };
  const byProof = proof === null ? null : await bookOfProof(services, proof);
  if (proof !== null && byProof === null) return { kind: 'wrong' };
  return proven(shown, books, byProof);
}

const TOO_MANY = `A request can have at most ${limits.sessions_per_caller_max} sessions.`;

/**
 * Possession by valid sessions, a valid proof, or both. If the request has both, the proof must belong to one of the sessions, and the
 * sessions count.
 */
function proven(
  { agent, of_several = false }: ShownCredentials,
  books: readonly HeldBook[],
  byProof: (HeldBook & ProvenBy) | null,
): Possession {
  const [first, ...more] = books;
  if (!first) return byProof === null ? { kind: 'wrong' } : { kind: 'proven', ...byProof };
  if (byProof !== null && !books.some(book => book.session_hash === byProof.session_hash)) return { kind: 'wrong' };
  const chosen = more.length === 0 && !of_several && (agent === null || agent === first.agent_id);
  return chosen ? { kind: 'proven', ...first, by: 'session' } : { kind: 'several', books, named: agent };
}

function possessionByBoundProof(held: HeldBook | null): Possession {
  return held === null ? { kind: 'wrong' } : { kind: 'proven', ...held, by: 'bound_proof', use: null };
}

const PATH = '/graphql';

/** The request that a proof on /graphql covers. The path names no agent there, so a header does. */
export function provenOnGraphql(
  { method, headers, body }: HttpRequestParts,
  path = PATH,
): Pick<ShownProof, 'agent_id' | 'request'> {
  const named = headers['x-svc-agent'];
  return {
    agent_id: agentOf(typeof named === 'string' ? named : undefined),
    request: { method, path, body: isJsonObject(body) ? body : {} },
  };
}

type HttpRequestParts = Pick<FastifyRequest, 'method' | 'headers' | 'body'>;

/** The request that a proof covers when a socket is opened: method GET, with the payload of connection_init as the body. */
export function provenAtConnection(connectionParams: JsonObject): ProvenRequest {
  return { method: 'GET', path: PATH, body: connectionParams };
}

/**
 * The request that a proof covers for an operation on a socket. It is the same as if the operation were sent by HTTP, so that a write has
 * the same form on both.
 */
export function provenOnSocket(payload: object): ProvenRequest {
  return { method: 'POST', path: PATH, body: payload as JsonObject };
}

/** Compares presented secrets with those of the board. Null if none was presented. */
type BoardKeys = (shown: ShownBoardSecrets) => BoardStanding | null;

/** Opens the comparison of the board's secrets. Only digests are stored and compared. */
export function openBoardKeys(secrets: { readonly [secret in BoardSecret]: string }): BoardKeys {
  const known = { ops: sha256(secrets.ops), inbound: sha256(secrets.inbound) };
  const standing = (secret: BoardSecret, digest: string) => {
    const shown = Buffer.from(digest, 'hex');
    return timingSafeEqual(shown, known[secret]) ? 'held' : 'wrong';
  };
  return ({ ops, inbound }) => {
    if (ops === undefined && inbound === undefined) return null;
    return {
      ...(ops === undefined ? {} : { ops: standing('ops', ops) }),
      ...(inbound === undefined ? {} : { inbound: standing('inbound', inbound) }),
    };
  };
}
