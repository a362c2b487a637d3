import type { AgentId } from '../../../schema/ids.ts';
import type { LedgerName } from '../../../schema/requests/escrow.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database, Tx } from '../../database.ts';
import { StoredLedgerEscrow } from './ledger-escrow.entity.ts';

/* Reads ledger escrows. */

const READ = (where: string) =>
  `select ${selectList(StoredLedgerEscrow)}, floor(extract(epoch from clock_timestamp()) * 1000)::int8 as now_ms
    from ledger_escrow where agent_id = $1 and ${where}`;

export interface FoundLedgerEscrow {
  readonly escrow: StoredLedgerEscrow;
  /** Time by the clock of the database. */
  readonly now_ms: number;
}

/** Finds an escrow of a book by its id, by its task (the newest one), or by both. Null if there is none. */
export async function findLedgerEscrow(
  { query }: Pick<Database, 'query'>,
  agent_id: AgentId,
  { escrow_id, task_id }: LedgerName,
): Promise<FoundLedgerEscrow | null> {
  const [found] = await query<{ now_ms: number }>(
    escrow_id === undefined
      ? {
          name: 'ledger escrow by task',
          text: READ('task_id = $2 order by escrow_id desc limit 1'),
          values: [agent_id, task_id],
        }
      : {
          name: 'ledger escrow by id',
          text: READ('escrow_id = $2 and ($3::text is null or task_id = $3)'),
          values: [agent_id, escrow_id, task_id ?? null],
        },
  );
  return found ? foundAs(found) : null;
}

/** The escrow of a task that is stored as open, even if its expiry has passed. Call it under the lock of the head. */
export async function openLedgerEscrowOf(
  tx: Tx,
  agent_id: AgentId,
  task_id: string,
): Promise<StoredLedgerEscrow | null> {
  const text = READ(`task_id = $2 and state = 'open'`);
  const { rows } = await tx.query<{ now_ms: number }>({
    name: 'open ledger escrow of task',
    text,
    values: [agent_id, task_id],
  });
  return rows[0] ? foundAs(rows[0]).escrow : null;
}

/** Reads an escrow again under the lock of the head, where no other transaction can write it. */
export async function ledgerEscrowAgain(tx: Tx, escrow: StoredLedgerEscrow): Promise<StoredLedgerEscrow> {
  const { rows } = await tx.query<{ now_ms: number }>({
    name: 'ledger escrow again',
    text: READ('escrow_id = $2'),
    values: [escrow.agentId, escrow.escrowId],
  });
  if (!rows[0]) throw new Error('an escrow is gone');
  return foundAs(rows[0]).escrow;
}

function foundAs({ now_ms, ...row }: { readonly now_ms: number }): FoundLedgerEscrow {
  return { escrow: asEntity(StoredLedgerEscrow, row), now_ms };
}
