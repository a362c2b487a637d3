import type pg from 'pg';
import { beforeAll, expect, it } from 'vitest';
import { agentId } from '../../../../schema/ids.ts';
import { expireEscrows } from '../../../../subgraphs/book/escrow/expire.ts';
import { requireA2aRoom, requireLedgerRoom } from '../../../../subgraphs/book/escrow/room.ts';
import { systemClock, systemRandom } from '../../../../subgraphs/clock.ts';
import type { Database, Tx } from '../../../../subgraphs/database.ts';
import { freshStore } from '../../../harness/store.ts';

/* Statements that run while a book's head is locked, or every few seconds, must not read all escrows that ever existed. */

const database = await freshStore();

/** Escrows that one book has opened in half a year, nearly all of which have ended. */
const AGED = `now() - n * interval '1 hour', now() - n * interval '50 minutes',
  case when n % 500 = 0 then 'open' else 'released' end from generate_series(1, 5000) n`;

beforeAll(async () => {
  for (const text of [
    `insert into ledger_escrow (escrow_id, agent_id, task_id, seq, amount, required, phases, opened_at, expires_at, state)
      select 'l' || n, 1, 't' || n, n, 1, '{}', '[]', ${AGED}`,
    `insert into a2a_escrow (escrow_id, principal_agent_id, counterparty_agent_id, job_id, job_spec_hash, amount, phases,
      opened_at, expires_at, state) select 'a' || n, 1, 2, 'j' || n, '', 1, '[]', ${AGED}`,
    'analyze ledger_escrow, a2a_escrow',
  ])
    await database.query({ text });
});

async function planOf({ text, values = [] }: pg.QueryConfig): Promise<string> {
  const rows = await database.query<Record<string, string>>({ text: `explain ${text}`, values });
  return rows.map(row => Object.values(row)[0]).join('\n');
}

it('what a book opened within an hour is sought by its time', async () => {
  const plans: string[] = [];
  const spied: Tx = {
    write: () => {},
    async query(statement: pg.QueryConfig) {
      plans.push(await planOf(statement));
      return database.transaction(tx => tx.query(statement));
    },
  } as Tx;
  await requireLedgerRoom(spied, agentId(1));
  await requireA2aRoom(spied, agentId(1), agentId(2));
  expect(plans).toHaveLength(2);
  for (const plan of plans) expect(plan).toMatch(/Index Cond: .*opened_at > /);
});

it('what is over is sought by its time', async () => {
  const plans: string[] = [];
  const spied: Database = {
    ...database,
    query: async statement => {
      plans.push(await planOf(statement));
      return [];
    },
  };
  await expireEscrows({ database: spied, clock: systemClock, random: systemRandom });
  expect(plans).toHaveLength(2);
  for (const plan of plans) expect(plan).toMatch(/Index Cond: .*expires_at <= /);
});
