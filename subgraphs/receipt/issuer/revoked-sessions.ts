import type { JsonObject } from '../../../schema/canonical-json.ts';
import { sessionLimits } from '../../../schema/limits.ts';
import type { RevocationsPage } from '../../../schema/requests/session.ts';
import type { Database, Tx } from '../../database.ts';

/** The signed members of the revocation of a session. */
export interface SignedRevocation {
  readonly delegation_hash: string;
  readonly payer: string;
  readonly at: number;
  /** Null if there is no signature, because the session ended with all others when a break of the log was accepted. */
  readonly signature: string | null;
}

export interface KeptRevocation extends SignedRevocation {
  /** Position among all revoked sessions, from 1 without a gap, in the order in which they were revoked. */
  readonly seq: number;
  readonly revoked_at: Date;
}

const COLUMNS = 'seq, delegation_hash, payer, at, signature, revoked_at';

/**
 * Locks the table, so that revocations are written one at a time. A reader that has read up to a seq has then missed none below it. Later
 * queries of the transaction see no new revocations of other transactions.
 */
export function lockRevocations(tx: Tx): void {
  tx.write({ name: 'lock revocations', text: 'lock table session_revocation in share row exclusive mode' });
}

/**
 * Records that a session is revoked, which publishes it. The database assigns the seq (../migration.ts). `lockRevocations` must be called
 * first.
 */
export async function keepRevocation(tx: Tx, signed: SignedRevocation, unbound: boolean): Promise<KeptRevocation> {
  const { delegation_hash, payer, at, signature } = signed;
  const { rows } = await tx.query<KeptRevocation & object>({
    name: 'keep session revocation',
    text: `insert into session_revocation (delegation_hash, payer, at, signature, unbound, revoked_at)
      values ($1, $2, $3, $4, $5, clock_timestamp()) returning ${COLUMNS}`,
    values: [delegation_hash, payer, at, signature, unbound],
  });
  return rows[0] as KeptRevocation;
}

/** Revocations by delegation hash. Sessions that ended only because a session above them was revoked are left out. */
export async function revocationsAmong(
  reading: Pick<Database, 'query'> | Pick<Tx, 'query'>,
  delegation_hashes: readonly string[],
): Promise<ReadonlyMap<string, KeptRevocation>> {
  const found = await reading.query<KeptRevocation & Record<string, unknown>>({
    name: 'revoked sessions',
    text: `select ${COLUMNS} from session_revocation where delegation_hash = any($1)`,
    values: [delegation_hashes],
  });
  const rows = 'rows' in found ? found.rows : found;
  return new Map(rows.map(row => [row.delegation_hash, row]));
}

/** The earliest revocation of a session of this path. Null if none was revoked. */
export function firstRevocation(
  path: readonly string[],
  revoked: ReadonlyMap<string, KeptRevocation>,
): KeptRevocation | null {
  const over = path.flatMap(name => revoked.get(name) ?? []);
  return over.sort((one, other) => one.seq - other.seq)[0] ?? null;
}

/** A page of revoked sessions as /.well-known/revocations lists them, the newest first. */
export async function listedRevocations(
  database: Pick<Database, 'query'>,
  { limit, cursor }: RevocationsPage,
): Promise<{ readonly sessions: readonly JsonObject[]; readonly next_cursor: string | null }> {
  const size = Math.min(limit ?? sessionLimits.page_revocations_max, sessionLimits.page_revocations_max);
  const rows = await database.query<KeptRevocation & Record<string, unknown>>({
    name: 'listed session revocations',
    text: `select ${COLUMNS} from session_revocation where $2::bigint is null or seq < $2 order by seq desc limit $1`,
    values: [size + 1, cursor ?? null],
  });
  const last = rows.length > size ? rows[size - 1] : undefined;
  return {
    sessions: rows
      .slice(0, size)
      .map(({ revoked_at, ...signed }) => ({ ...signed, revoked_at: revoked_at.toISOString() })),
    next_cursor: last ? String(last.seq) : null,
  };
}

/** Number of a payer's revocations that were of grants which no payment had bound. */
export async function unboundRevocationsOf(tx: Pick<Tx, 'query'>, payer: string): Promise<number> {
  const { rows } = await tx.query<{ standing: number }>({
    name: 'unbound revocations of payer',
    text: 'select count(*)::int as standing from session_revocation where payer = $1 and unbound',
    values: [payer],
  });
  return rows[0]?.standing ?? 0;
}
