import type { AgentId } from '../../../schema/ids.ts';
import { escrowLimits } from '../../../schema/limits.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database, Tx } from '../../database.ts';
import { addJobs } from '../../jobs.ts';
import { readsOf } from '../../transaction.ts';
import { lockNotified, notify, wantsNotice } from '../ledger/notify.ts';
import { StoredA2aEscrow } from './a2a-escrow.entity.ts';

/*
 * Notifies the counterparty of an escrow that was opened with it, if its webhook subscribes to `escrow_offer`, up to a limit per hour.
 * A job of the worker does this, because a request of another agent must not lock the head of the counterparty.
 */

/** Adds the job in the transaction that opens the escrow. */
export async function notifyCounterparty(
  tx: Tx,
  { escrowId: escrow_id, counterpartyAgentId }: Pick<StoredA2aEscrow, 'escrowId' | 'counterpartyAgentId'>,
): Promise<void> {
  if (await wantsNotice(tx, counterpartyAgentId, 'escrow_offer'))
    addJobs(tx, [{ task: 'book/escrow_offer', payload: { escrow_id } }]);
}

/** The job: notifies once per escrow, however often it runs. Above the limit it sends nothing; the list of escrows shows the escrow. */
export function announceOffer({ transaction }: Pick<Database, 'transaction'>, escrow_id: string): Promise<void> {
  return transaction(async tx => {
    const [read] = await readsOf(tx).query<{ agent_id: AgentId }>({
      name: 'counterparty of escrow',
      text: 'select counterparty_agent_id as agent_id from a2a_escrow where escrow_id = $1',
      values: [escrow_id],
    });
    const head = read ? await lockNotified(tx, read.agent_id, 'escrow_offer') : null;
    if (!read || !head || (await isFull(tx, read.agent_id))) return;
    const { rows } = await tx.query({
      name: 'escrow to tell',
      text: `update a2a_escrow set offer_told_at = clock_timestamp() where escrow_id = $1 and offer_told_at is null
        returning ${selectList(StoredA2aEscrow)}`,
      values: [escrow_id],
    });
    if (!rows[0]) return;
    const escrow = asEntity(StoredA2aEscrow, rows[0]);
    notify(tx, head, 'escrow_offer', {
      escrow_id,
      job_id: escrow.jobId,
      job_spec_hash: escrow.jobSpecHash,
      amount: String(escrow.amount),
      principal_agent_id: escrow.principalAgentId,
      expires_at: escrow.expiresAt.toISOString(),
    });
  });
}

/** Whether the limit of this hour is reached. Called under the lock of the head, so that concurrent jobs cannot exceed the limit. */
async function isFull(tx: Tx, agent_id: AgentId): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'offers told within an hour',
    text: `select from a2a_escrow where counterparty_agent_id = $1 and offer_told_at > statement_timestamp() - interval '1 hour'
      order by offer_told_at desc offset $2 limit 1`,
    values: [agent_id, escrowLimits.offers_sent_per_book_hour_max - 1],
  });
  return rowCount === 1;
}
