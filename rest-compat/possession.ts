import { isJsonObject } from '../schema/canonical-json.ts';
import { booksOf, type ProvenBy } from '../schema/principal.ts';
import { agentOf, bearer, ingestKeyIn, sliceTokenIn } from './credentials.ts';
import type { Columns, Door } from './door.ts';
import type { DoorRequest } from './door-request.ts';
import type { Caller } from './port.ts';

/* Checks that a caller possesses the book of an endpoint, or has a credential that is accepted instead. */

/** On an endpoint that only a slice token opens, any bearer token is read as one. */
export function tokenAt({ slice_token }: Door, { headers, query }: DoorRequest): string | null {
  if (slice_token !== 'whole') return sliceTokenIn(headers);
  const { token } = isJsonObject(query) ? query : {};
  return typeof token === 'string' && token !== '' ? token : bearer(headers.authorization);
}

function namesAgent(door: Door): boolean {
  return door.path.includes('{agent_id}');
}

export function namedAgent(door: Door, request: DoorRequest): number | null {
  return namesAgent(door) ? agentOf(request.params.agent_id) : null;
}

/** Accepted proofs of possession by the column of the endpoint. */
const acceptedProofs: Readonly<Record<'required' | 'session' | 'bound', readonly ProvenBy['by'][]>> = {
  required: ['session', 'plain_proof', 'bound_proof'],
  session: ['session'],
  bound: ['session', 'bound_proof'],
};

/** An invalid session on a paid endpoint is a 403 before any charge, even if the endpoint does not require one. */
export function possessionFault(door: Door, request: DoorRequest, { possession, board }: Caller): 401 | 403 | null {
  if (door.board_secret !== 'none') return boardSecretFault(board?.[door.board_secret]);
  if (door.ingest_key !== 'none') return ingestKeyFault(door, request, possession);
  if (door.possession === 'none' || door.possession === 'offered')
    return door.price && possession.kind === 'wrong' ? 403 : null;
  if (possession.kind === 'absent') return door.slice_token === 'instead' && tokenAt(door, request) ? null : 401;
  if (possession.kind === 'wrong') return 403;
  const accepted = acceptedProofs[door.possession];
  const opening = booksOf(possession).filter(({ by }) => accepted.includes(by));
  if (namesAgent(door)) return opening.some(book => book.agent_id === namedAgent(door, request)) ? null : 403;
  return opening.length > 0 ? null : 403;
}

/** Only the form of a key is checked here; the resolver finds its owner. Other credentials are ignored if there is one. */
function ingestKeyFault(
  { ingest_key }: Pick<Columns, 'ingest_key'>,
  { headers }: DoorRequest,
  { kind }: Caller['possession'],
): 401 | 403 | null {
  const shown = ingestKeyIn(headers);
  if (shown !== null) return shown.kind === 'wrong' ? 403 : null;
  if (ingest_key === 'required' || kind === 'absent') return 401;
  return kind === 'wrong' ? 403 : null;
}

/** A missing or wrong secret cannot be replaced by another credential. */
function boardSecretFault(standing: 'held' | 'wrong' | undefined): 401 | 403 | null {
  if (standing === undefined) return 401;
  return standing === 'wrong' ? 403 : null;
}

/** The challenge of an endpoint for WWW-Authenticate (RFC 9110 11.6.1). */
export function authenticateChallenge({
  ingest_key,
  board_secret,
}: Pick<Columns, 'ingest_key' | 'board_secret'>): string {
  return board_secret === 'none' ? challengeByKey[ingest_key] : challengeBySecret[board_secret];
}

const challengeByKey: Readonly<Record<Columns['ingest_key'], string>> = {
  none: 'SVC-Session',
  required: 'Bearer',
  or_session: 'Bearer, SVC-Session',
};

const challengeBySecret = { ops: 'SVC-Board-Ops', inbound: 'Bearer, SVC-Board-Inbound' } as const;
