import { Refusal } from '../../../schema/errors.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database } from '../../database.ts';
import type { LiveTrees, Wake } from '../../live.ts';
import { liveFeed, type ReadEvents, shareReads } from '../../live-feed.ts';
import type { SessionContext } from '../context.ts';
import { payersSession } from './payers-session.ts';
import { SessionBurn } from './session-burn.entity.ts';

/**
 * Stream of the payments under a session and all sessions below it, after the position `after`. It requires possession of the book of
 * the payer of the session or of a session above it, and ends when one of these sessions is revoked. @throws unauthenticated,
 * not_a_party, not_found, session_not_active
 */
export async function sessionBurns(
  delegation_hash: string,
  after: number | null,
  context: SessionContext,
): Promise<AsyncIterableIterator<SessionBurn>> {
  const { session, ended_by } = await payersSession(delegation_hash, context);
  if (ended_by !== null) throw over();
  const start = after !== null && after >= 0 ? after : Math.max(0, session.burnPosition + (after ?? 0));
  const watch = (wake: Wake) => watchPath(context.live, session.path, wake);
  return liveFeed({ watch, read: (...args) => context.readSessionBurns(session.delegationHash, ...args) }, start);
}

/** Calls `wake` with a position for each payment of the session, and with null when the session or a session above it is revoked. */
async function watchPath(live: LiveTrees, path: readonly string[], wake: Wake): Promise<() => void> {
  const endOf: Wake = position => {
    if (position === null) wake(null);
  };
  const watches = path.map((name, depth) => live.watchTree(name, depth === path.length - 1 ? wake : endOf));
  const stops = await Promise.all(watches);
  return () => {
    for (const stop of stops) stop();
  };
}

/** Reader of live feeds, one per process. Equal concurrent reads are shared. */
export function openSessionBurns(database: Database): ReadEvents<string, SessionBurn> {
  const columns = selectList(SessionBurn);
  const text = `select b.*, d.path from (select ${columns} from session_burn
      where delegation_hash = $1 and position > $2 order by position limit $3) b
    join delegation d on d.delegation_hash = b."paidUnder" order by position`;
  return shareReads(async (delegation_hash, after, limit) => {
    const found = await database.query<{ path: string[] }>({
      name: 'burns after',
      text,
      values: [delegation_hash, after, limit],
    });
    // The end of the session is checked after the read, so that nothing recorded after a revocation is sent.
    await requireUnended(database, delegation_hash);
    return found.map(burn => {
      return asEntity(SessionBurn, { ...burn, path: burn.path.slice(burn.path.indexOf(delegation_hash)) });
    });
  });
}

/** Checks that neither the session nor a session above it is revoked. @throws session_not_active */
async function requireUnended(database: Database, delegation_hash: string): Promise<void> {
  const ended = await database.query({
    name: 'is session ended',
    text: `select 1 from session_revocation where delegation_hash in (
      select jsonb_array_elements_text(path) from delegation where delegation_hash = $1) limit 1`,
    values: [delegation_hash],
  });
  if (ended.length > 0) throw over();
}

function over(): Refusal {
  return new Refusal('session_not_active', { facts: { session_status: 'revoked' } });
}
