import type { JsonObject } from '../../../schema/canonical-json.ts';
import { sessionLimits } from '../../../schema/limits.ts';
import type { ShownDelegation } from '../../../schema/session/delegation-header.ts';
import { grantStanding } from '../../../schema/session/grant-rule.ts';
import type { Tx } from '../../database.ts';
import { revocationsAmong } from '../../receipt/issuer/revoked-sessions.ts';
import { heldAmounts } from './held-amounts.ts';

/** Session members stored with the claim of a payment, so that reconcile can finish it in any process. */
export interface ClaimSession extends JsonObject {
  readonly delegation_hash: string;
  /** Ids of all sessions above this one, root first, followed by its own id. */
  readonly path: readonly string[];
  readonly agent_pubkey: string;
  readonly valid_after: number;
  readonly session_expiry: number;
  /** Amount held on every session of the path, in atomic USDC. */
  readonly holds: string;
}

export interface SessionHold {
  readonly claim_key: string;
  readonly under: ClaimSession;
  readonly shown: ShownDelegation;
}

export type SessionOutcome =
  | { readonly kind: 'holds' }
  | { readonly kind: 'not_active'; readonly status: 'revoked' | 'expired' | 'not_begun' }
  | { readonly kind: 'cap_exceeded'; readonly delegation_hash: string }
  /** The session is new, and its parent has the maximum number of live children. */
  | { readonly kind: 'siblings_full' };

/**
 * Holds the amounts of payments on their sessions and on all sessions above them. The payments are judged in order, and the sum of
 * recorded, held and newly held amounts must stay within every cap. Sessions are locked after the heads of books, in the order of their
 * hashes, and are judged by their state under the lock, so that concurrent payments cannot exceed a cap together. New sessions are
 * stored first, and deleted again if no payment holds them. Otherwise one payment that is never spent could store a row for each of
 * many grants.
 */
export async function holdUnderSessions(tx: Tx, items: readonly SessionHold[]): Promise<readonly SessionOutcome[]> {
  if (items.length === 0) return [];
  const names = [...new Set(items.flatMap(({ under }) => under.path))];
  const { locked, written } = await lockWritten(tx, items, names);
  const revoked = await revocationsAmong(tx, names);
  const crowded = await sessionsWithoutRoom(tx, written);
  const taken = new Map(
    await heldAmounts(
      tx,
      names,
      items.map(({ claim_key }) => claim_key),
    ),
  );
  const outcomes = items.map(({ under }) =>
    crowded.has(under.delegation_hash)
      ? ({ kind: 'siblings_full' } as const)
      : judge(under, { locked, revoked, taken }),
  );
  for (const [index, { under }] of items.entries())
    if (outcomes[index]?.kind === 'holds') written.delete(under.delegation_hash);
  forgetWritten(tx, written);
  return outcomes;
}

/**
 * Judges calls without a payment as payments of 0, under the same locks, so that a revocation applies to them at once. Nothing is held.
 * A session that no payment has stored is not stored here either: the times of its grant decide whether it is valid.
 */
export async function judgeUnderSessions(tx: Tx, unders: readonly ClaimSession[]): Promise<readonly SessionOutcome[]> {
  if (unders.length === 0) return [];
  const names = [...new Set(unders.flatMap(({ path }) => path))];
  const locked = new Map(await lockSessions(tx, names));
  const { rows } = await tx.query<{ now_seconds: number }>({
    name: 'now in seconds',
    text: 'select floor(extract(epoch from clock_timestamp()))::int8 as now_seconds',
  });
  const now_seconds = rows[0]?.now_seconds ?? 0;
  for (const { delegation_hash, valid_after, session_expiry } of unders)
    if (!locked.has(delegation_hash)) {
      const unspent = { cap_atomic: 0n, spent_atomic: 0n };
      locked.set(delegation_hash, { delegation_hash, valid_after, session_expiry, now_seconds, ...unspent });
    }
  const revoked = await revocationsAmong(tx, names);
  return unders.map(under => judge(under, { locked, revoked, taken: new Map() }));
}

/**
 * Stores new sessions and locks all. A row that existed may have been deleted (forget-unpaid-sessions.ts) before it was locked. This
 * transaction then stores it again.
 */
async function lockWritten(tx: Tx, items: readonly SessionHold[], names: readonly string[]) {
  const written = await writeNew(tx, items);
  const locked = await lockSessions(tx, names);
  const gone = items.filter(({ under }) => !locked.has(under.delegation_hash));
  if (gone.length === 0) return { locked, written };
  for (const name of await writeNew(tx, gone)) written.add(name);
  return { locked: await lockSessions(tx, names), written };
}

/**
 * New sessions whose parents have the maximum number of live children. Parents are locked, so that only one of several concurrent
 * sessions gets the last place. Within a batch it is the first in the order of hashes.
 */
async function sessionsWithoutRoom(tx: Tx, written: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  if (written.size === 0) return new Set();
  const { rows } = await tx.query<{ delegation_hash: string }>({
    name: 'sessions beyond the bound of their parent',
    text: `select n.delegation_hash from delegation n cross join lateral (
        select count(*) as older from (select from delegation d
          where d.parent_hash = n.parent_hash and d.session_expiry > extract(epoch from now())
            and (d.delegation_hash <> all ($1) or d.delegation_hash < n.delegation_hash)
            and not exists (select from session_revocation r where r.delegation_hash = d.delegation_hash)
          limit $2) siblings) s
      where n.delegation_hash = any ($1) and n.parent_hash is not null and s.older >= $2`,
    values: [[...written], sessionLimits.children_max],
  });
  return new Set(rows.map(({ delegation_hash }) => delegation_hash));
}

interface SessionsState {
  readonly locked: ReadonlyMap<string, LockedSession>;
  readonly revoked: Pick<ReadonlyMap<string, unknown>, 'has'>;
  /** Held amounts by session, including those of payments admitted in this batch. */
  readonly taken: Map<string, bigint>;
}

function judge(under: ClaimSession, { locked, revoked, taken }: SessionsState): SessionOutcome {
  if (under.path.some(name => revoked.has(name))) return { kind: 'not_active', status: 'revoked' };
  const holds = BigInt(under.holds);
  for (const name of under.path) {
    const session = locked.get(name);
    if (!session) return { kind: 'not_active', status: 'expired' };
    const standing = grantStanding(
      { validAfter: session.valid_after, sessionExpiry: session.session_expiry },
      session.now_seconds,
    );
    if (standing.kind === 'not_begun') return { kind: 'not_active', status: 'not_begun' };
    if (standing.kind !== 'in_force') return { kind: 'not_active', status: 'expired' };
    if (session.spent_atomic + (taken.get(name) ?? 0n) + holds > session.cap_atomic)
      return { kind: 'cap_exceeded', delegation_hash: name };
  }
  for (const name of under.path) taken.set(name, (taken.get(name) ?? 0n) + holds);
  return { kind: 'holds' };
}

interface LockedSession {
  readonly delegation_hash: string;
  readonly cap_atomic: bigint;
  readonly spent_atomic: bigint;
  readonly valid_after: number;
  readonly session_expiry: number;
  /** Time read after the sessions were locked, so that the wait for the locks is included. */
  readonly now_seconds: number;
}

async function lockSessions(tx: Tx, names: readonly string[]): Promise<ReadonlyMap<string, LockedSession>> {
  const { rows } = await tx.query<LockedSession & object>({
    name: 'lock sessions',
    text: `with locked as materialized (
        select delegation_hash, cap_atomic, spent_atomic, valid_after, session_expiry from delegation
        where delegation_hash = any($1) order by delegation_hash for update)
      select locked.*, floor(extract(epoch from clock_timestamp()))::int8 as now_seconds from locked`,
    values: [names],
  });
  return new Map(rows.map(row => [row.delegation_hash, row]));
}

/** Inserts new sessions in the order of their hashes, so that two batches do not wait for each other. Returns the inserted hashes. */
async function writeNew(tx: Tx, items: readonly SessionHold[]): Promise<Set<string>> {
  const grants = new Map(items.map(item => [item.under.delegation_hash, item]));
  const sorted = [...grants.values()].sort((a, b) => (a.under.delegation_hash < b.under.delegation_hash ? -1 : 1));
  const { rows } = await tx.query<{ delegation_hash: string }>({
    name: 'write sessions',
    text: `insert into delegation (delegation_hash, payer, agent_pubkey, agent_address, cap_atomic, valid_after, session_expiry,
        parent_hash, path, models, doors, salt, signature, spent_atomic, created_at)
      select delegation_hash, payer, agent_pubkey, agent_address, cap_atomic, valid_after, session_expiry, parent_hash, path,
        models, doors, salt, signature, 0, now()
      from jsonb_populate_recordset(null::delegation, $1::jsonb) order by delegation_hash
      on conflict (delegation_hash) do nothing returning delegation_hash`,
    values: [JSON.stringify(sorted.map(recordOf))],
  });
  return new Set(rows.map(row => row.delegation_hash));
}

/** Deletes rows that this transaction has inserted. No other transaction has seen them. */
function forgetWritten(tx: Tx, names: ReadonlySet<string>): void {
  if (names.size === 0) return;
  tx.write({
    name: 'forget written sessions',
    text: 'delete from delegation where delegation_hash = any($1)',
    values: [[...names]],
  });
}

function recordOf({ under, shown }: SessionHold): object {
  const { grant, agent_address, signature, delegation_hash } = shown;
  return {
    delegation_hash,
    payer: grant.payer,
    agent_pubkey: grant.agentPubkey,
    agent_address,
    signature,
    cap_atomic: grant.capAtomic,
    valid_after: grant.validAfter,
    session_expiry: grant.sessionExpiry,
    models: grant.models,
    doors: grant.doors,
    salt: grant.salt,
    path: under.path,
    parent_hash: under.path.at(-2) ?? null,
  };
}
