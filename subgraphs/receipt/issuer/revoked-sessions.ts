import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { Database, Tx } from '../../database.ts';

/** As it was signed. */
export interface SignedRevocation {
  readonly delegation_hash: string;
  readonly payer: string;
  readonly at: number;
  readonly signature: string;
}

export interface KeptRevocation extends SignedRevocation {
  readonly revoked_at: Date;
}

/** Newest first, so many are listed: `GET /v1/sessions/{delegation_hash}` knows all. */
const LISTED_MAX = 1_000;

/** Publishes that a session is over. The first statement of it stands: whoever says so again hears that one. */
export async function keepRevocation(tx: Tx, signed: SignedRevocation): Promise<KeptRevocation> {
  const { delegation_hash, payer, at, signature } = signed;
  const values = [delegation_hash, payer, at, signature];
  tx.write({
    name: 'keep session revocation',
    text: `insert into session_revocation (delegation_hash, payer, at, signature, revoked_at)
      values ($1, $2, $3, $4, clock_timestamp()) on conflict do nothing`,
    values,
  });
  const { rows } = await tx.query<KeptRevocation & object>({
    name: 'session revocation',
    text: `select delegation_hash, payer, at, signature, revoked_at from session_revocation where delegation_hash = $1`,
    values: [delegation_hash],
  });
  return rows[0] as KeptRevocation;
}

/** Those of these sessions that were revoked by themselves, as they stand now. */
export async function revokedAmong(
  reading: Pick<Tx, 'query'>,
  delegation_hashes: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await reading.query<{ delegation_hash: string }>({
    name: 'revoked sessions',
    text: 'select delegation_hash from session_revocation where delegation_hash = any($1)',
    values: [delegation_hashes],
  });
  return new Set(rows.map(row => row.delegation_hash));
}

/** As /.well-known/revocations has them. */
export async function listedRevocations(database: Pick<Database, 'query'>): Promise<readonly JsonObject[]> {
  const rows = await database.query<KeptRevocation & Record<string, unknown>>({
    name: 'listed session revocations',
    text: `select delegation_hash, payer, at, signature, revoked_at from session_revocation
      order by revoked_at desc, delegation_hash limit $1`,
    values: [LISTED_MAX],
  });
  return rows.map(({ revoked_at, ...signed }) => ({ ...signed, revoked_at: revoked_at.toISOString() }));
}
