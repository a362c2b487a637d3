import { isJsonObject } from '../schema/canonical-json.ts';
import { booksOf, type ProvenBy } from '../schema/principal.ts';
import { agentOf, bearer, ingestKeyIn, sliceTokenIn } from './credentials.ts';
import type { Columns, Door } from './door.ts';
import type { DoorRequest } from './door-request.ts';
import type { Caller } from './port.ts';

/* Whether a caller possesses the book that a door is of, or shows what does in place of that. */

/** Where a token is all that opens the door, whatever a bearer shows is meant for one. */
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

/** By what possession may be proven, where a door asks for it. */
const opens: Readonly<Record<'required' | 'session' | 'bound', readonly ProvenBy['by'][]>> = {
  required: ['session', 'plain_proof', 'bound_proof'],
  session: ['session'],
  bound: ['session', 'bound_proof'],
};

/** A wrong session on a paid door is a 403 before any charge, also where the door asks for none. */
export function unpossessed(door: Door, request: DoorRequest, { possession, board }: Caller): 401 | 403 | null {
  if (door.board_secret !== 'none') return withoutSecret(board?.[door.board_secret]);
  if (door.ingest_key !== 'none') return withoutKey(door, request, possession);
  if (door.possession === 'none' || door.possession === 'offered')
    return door.price && possession.kind === 'wrong' ? 403 : null;
  if (possession.kind === 'absent') return door.slice_token === 'instead' && tokenAt(door, request) ? null : 401;
  if (possession.kind === 'wrong') return 403;
  const means = opens[door.possession];
  const opening = booksOf(possession).filter(({ by }) => means.includes(by));
  if (namesAgent(door)) return opening.some(book => book.agent_id === namedAgent(door, request)) ? null : 403;
  return opening.length > 0 ? null : 403;
}

/** A key is looked at by its spelling; whose it is the resolver finds. What it is shown beside counts for nothing then. */
function withoutKey(
  { ingest_key }: Pick<Columns, 'ingest_key'>,
  { headers }: DoorRequest,
  { kind }: Caller['possession'],
): 401 | 403 | null {
  const shown = ingestKeyIn(headers);
  if (shown !== null) return shown.kind === 'wrong' ? 403 : null;
  if (ingest_key === 'required' || kind === 'absent') return 401;
  return kind === 'wrong' ? 403 : null;
}

/** Nothing else that was shown makes up for a secret that is missing or wrong. */
function withoutSecret(standing: 'held' | 'wrong' | undefined): 401 | 403 | null {
  if (standing === undefined) return 401;
  return standing === 'wrong' ? 403 : null;
}

/** What opens a door, as WWW-Authenticate names it (RFC 9110 11.6.1). */
export function openedBy({ ingest_key, board_secret }: Pick<Columns, 'ingest_key' | 'board_secret'>): string {
  return board_secret === 'none' ? byKey[ingest_key] : bySecret[board_secret];
}

const byKey: Readonly<Record<Columns['ingest_key'], string>> = {
  none: 'SVC-Session',
  required: 'Bearer',
  or_session: 'Bearer, SVC-Session',
};

const bySecret = { ops: 'SVC-Board-Ops', inbound: 'Bearer, SVC-Board-Inbound' } as const;
