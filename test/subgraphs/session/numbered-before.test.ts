import { expect, it } from 'vitest';
import { openStore } from '../../../gateway/parts.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { keepRevocation, lockRevocations } from '../../../subgraphs/receipt/issuer/revoked-sessions.ts';
import {
  NumberedRevocations,
  NumbersOfRevocations,
} from '../../../subgraphs/receipt/issuer/session-revocation.migration.ts';
import { SessionBurns } from '../../../subgraphs/session/delegation/session-burn.migration.ts';
import { atEnd } from '../../harness/release.ts';
import { freshStore } from '../../harness/store.ts';

/* A database from before payments and revocations of sessions were numbered, as it is when it was opened anew. */

/** As it was, with what it held. */
const BEFORE = `
  drop table session_burn;
  alter table delegation drop column burn_position;
  drop table session_revocation;
  drop function number_revocation;
  create table session_revocation (
    delegation_hash text primary key, payer text not null, at bigint not null, signature text not null,
    revoked_at timestamptz not null);
  create index session_revocation_newest on session_revocation (revoked_at);
  insert into session_revocation values
    ('0xlater', '0x', 1, '0x', '2026-01-02'), ('0xfirst', '0x', 1, '0x', '2026-01-01'), ('0xalso', '0x', 1, '0x', '2026-01-02');
  insert into delegation (delegation_hash, payer, agent_pubkey, agent_address, cap_atomic, valid_after, session_expiry,
      parent_hash, path, models, doors, salt, signature, spent_atomic, created_at, bound_at)
    select hash, '0x', '0x02', '0x', 100, 0, 1, null, path::jsonb, '[]', '[]', '0x', '0x', spent, now(), now()
    from (values ('0xroot', '["0xroot"]', 12), ('0xchild', '["0xroot", "0xchild"]', 7), ('0xnone', '["0xnone"]', 0))
      as sessions (hash, path, spent);
  insert into delegated_call values
    ('task_1', '0xroot', null, 5), ('task_2', '0xchild', null, 3), ('task_3', '0xchild', null, 4)`;

async function asBefore(database: Database): Promise<void> {
  for (const text of BEFORE.split(';')) await database.query({ text });
  await database.query({
    text: 'delete from mikro_orm_migrations where name = any($1)',
    values: [[SessionBurns.name, NumberedRevocations.name, NumbersOfRevocations.name]],
  });
}

it('what was recorded and revoked before it was numbered is numbered in its order, and goes on from there', async () => {
  const old = await freshStore();
  await asBefore(old);
  const database = await openStore(old.url);
  atEnd(() => database.close());
  const all = (text: string) => database.query({ text });
  expect(await all('select delegation_hash, seq from session_revocation order by seq')).toEqual(
    ['0xfirst', '0xalso', '0xlater'].map((delegation_hash, before) => ({ delegation_hash, seq: before + 1 })),
  );
  expect(
    await all(`select delegation_hash, position, task_id, paid_under, amount_atomic::text as amount, spent_atomic::text as spent
      from session_burn order by delegation_hash desc, position`),
  ).toEqual([
    { delegation_hash: '0xroot', position: 1, task_id: 'task_1', paid_under: '0xroot', amount: '5', spent: '5' },
    { delegation_hash: '0xroot', position: 2, task_id: 'task_2', paid_under: '0xchild', amount: '3', spent: '8' },
    { delegation_hash: '0xroot', position: 3, task_id: 'task_3', paid_under: '0xchild', amount: '4', spent: '12' },
    { delegation_hash: '0xchild', position: 1, task_id: 'task_2', paid_under: '0xchild', amount: '3', spent: '3' },
    { delegation_hash: '0xchild', position: 2, task_id: 'task_3', paid_under: '0xchild', amount: '4', spent: '7' },
  ]);
  expect(await all('select delegation_hash, burn_position from delegation order by burn_position')).toEqual([
    { delegation_hash: '0xnone', burn_position: 0 },
    { delegation_hash: '0xchild', burn_position: 2 },
    { delegation_hash: '0xroot', burn_position: 3 },
  ]);
});

/** As the version before writes one, which knows of no numbers. */
const byVersionBefore = (database: Database, delegation_hash: string) =>
  database.transaction(async tx => {
    tx.write({
      text: `insert into session_revocation (delegation_hash, payer, at, signature, revoked_at)
        values ($1, '0x', 1, '0x', clock_timestamp()) on conflict do nothing`,
      values: [delegation_hash],
    });
    if (delegation_hash.endsWith('undone')) throw new Error('undone');
  });

const byThisVersion = (database: Database, delegation_hash: string) =>
  database.transaction(async tx => {
    lockRevocations(tx);
    return keepRevocation(tx, { delegation_hash, payer: '0x', at: 1, signature: '0x' }, false);
  });

it('while a process of the version before goes on, what either of both revokes is numbered without a gap', async () => {
  const one = await freshStore();
  // As another process is: on connections of its own.
  const before = await openStore(one.url);
  atEnd(() => before.close());
  const races = Array.from({ length: 60 }, async (_, index) => {
    if (index % 5 === 0) return byVersionBefore(before, `0x${index} undone`).catch(() => {});
    if (index % 2 === 0) return byVersionBefore(before, `0x${index}`);
    const { seq } = await byThisVersion(one, `0x${index}`);
    expect(seq).toBeGreaterThan(0);
  });
  await Promise.all(races);
  // Said again it takes no number.
  await byVersionBefore(before, '0x2');
  await byThisVersion(one, 'last');
  const numbers = await one.query<{ seq: number }>({ text: 'select seq from session_revocation order by seq' });
  expect(numbers.map(({ seq }) => seq)).toEqual(numbers.map((_, index) => index + 1));
  expect(numbers).toHaveLength(60 - 12 + 1);
});
