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

/** Of sessions that were bound in the end, by a payment that was on its way, all is kept and told as of any. */
const BOUND = `(unbound_until is null
  or exists (select from delegation d where d.delegation_hash = r.delegation_hash and d.bound_at is not null))`;

/** Newest first, so many are listed: `GET /v1/sessions/{delegation_hash}` knows all. */
const LISTED_MAX = 1_000;

/**
 * Publishes that a session is over. The first statement of it stands: whoever says so again hears that one. What no payment
 * had bound, `unbound_until` then, is not listed: it holds, and concerns nobody.
 */
export async function keepRevocation(
  tx: Tx,
  signed: SignedRevocation,
  unbound_until: number | null,
): Promise<KeptRevocation> {
  const { delegation_hash, payer, at, signature } = signed;
  const values = [delegation_hash, payer, at, signature, unbound_until];
  tx.write({
    name: 'keep session revocation',
    text: `insert into session_revocation (delegation_hash, payer, at, signature, unbound_until, revoked_at)
      values ($1, $2, $3, $4, $5, clock_timestamp()) on conflict do nothing`,
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
    text: `select delegation_hash, payer, at, signature, revoked_at from session_revocation r
      where ${BOUND} order by revoked_at desc, delegation_hash limit $1`,
    values: [LISTED_MAX],
  });
  return rows.map(({ revoked_at, ...signed }) => ({ ...signed, revoked_at: revoked_at.toISOString() }));
}

/** How many of a payer's stand that no payment had bound. */
export async function unboundRevocationsOf(tx: Pick<Tx, 'query'>, payer: string): Promise<number> {
  const { rows } = await tx.query<{ standing: number }>({
    name: 'unbound revocations of payer',
    text: 'select count(*)::int as standing from session_revocation where payer = $1 and unbound_until is not null',
    values: [payer],
  });
  return rows[0]?.standing ?? 0;
}

/** Those of grants whose time is over, as nothing can bind these any more. */
export async function forgetUnboundRevocations(database: Pick<Database, 'query'>): Promise<void> {
  await database.query({
    name: 'forget unbound revocations',
    text: `delete from session_revocation r where unbound_until < extract(epoch from now())::int8 and not ${BOUND}`,
  });
}
