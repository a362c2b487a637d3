import type { Database, Tx } from '../../database.ts';

/** A process holds all its claims by one lease: one write every few seconds, whatever the number of calls. */
const LEASE_SECONDS = 6;

/** Longer than any call may take; a claim that a living process lost sight of is free after this. */
const CALL_SECONDS_MAX = 180;

/** SQL over an alias of payment_claim: true while its process is alive and may be at work on it, by the database's clock. */
export const leased = (claim: string): string => living(`${claim}.lease_owner`, `${claim}.moved_at`);

/** The same for any work that a process (`owner`) began at a time (`since`): SQL, over two columns. */
export const living = (owner: string, since: string): string =>
  `(${since} > now() - interval '${CALL_SECONDS_MAX} seconds' and ${alive(owner)})`;

/** Whether the process itself is alive, whatever it may have lost sight of. */
export const alive = (owner: string): string =>
  `exists (select 1 from process_lease p where p.owner = ${owner} and p.expires_at > now())`;

/** Resolves with the database's time, in milliseconds. */
export async function renewLease(client: Pick<Tx, 'query'>, owner: string): Promise<number> {
  const { rows } = await client.query<{ now_ms: number }>({
    name: 'renew lease',
    text: `insert into process_lease (owner, expires_at) values ($1, now() + make_interval(secs => $2))
      on conflict (owner) do update set expires_at = excluded.expires_at
      returning floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`,
    values: [owner, LEASE_SECONDS],
  });
  return rows[0]?.now_ms ?? Number.NaN;
}

/** On a clean stop: what this process left open may be taken at once. */
export async function endLease(client: Pick<Tx, 'query'>, owner: string): Promise<void> {
  await client.query({ text: 'delete from process_lease where owner = $1', values: [owner] });
}

/** Whether any process is at work on this database. */
export async function anybodyServes(database: Pick<Database, 'query'>): Promise<boolean> {
  const living = await database.query({ text: 'select 1 from process_lease where expires_at > now() limit 1' });
  return living.length > 0;
}
