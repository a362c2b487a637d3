import { approvalLimits } from '../../../schema/limits.ts';
import type { Database, Tx } from '../../database.ts';
import { TAKEN } from './columns.ts';

/** Deletes the texts of requests that can no longer be answered. Such texts are hidden even before they are deleted. */
export async function forgetCallTexts(database: Pick<Database, 'query'>): Promise<void> {
  await database.query({
    name: 'forget asked texts',
    text: 'update approval_request set text_box = null where text_box is not null and open_until < now()',
  });
}

/** Deletes old requests. Their events stay on the book. */
export async function forgetApprovals(database: Pick<Database, 'query'>): Promise<void> {
  const { forgotten_at_once_max: max, kept_days } = approvalLimits;
  for (;;) {
    const forgotten = await database.query({
      name: 'forget approval requests',
      text: `delete from approval_request where approval_id in (
          select approval_id from approval_request where open_until < now() - make_interval(days => $2)
          order by open_until limit $1 for update skip locked)
        returning 1`,
      values: [max, kept_days],
    });
    if (forgotten.length < max) return;
  }
}

/** Ends open requests and their links, and deletes unused approvals. The same calls can request an approval again. */
export async function endApprovals(tx: Tx): Promise<void> {
  await tx.query('update approval_request set open_until = now() where decision is null and open_until > now()');
  await tx.query(`delete from approval_request a where decision = 'approve' and not ${TAKEN}`);
}
