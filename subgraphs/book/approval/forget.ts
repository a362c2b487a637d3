import { approvalLimits } from '../../../schema/limits.ts';
import type { Database, Tx } from '../../database.ts';
import { TAKEN } from './columns.ts';

/** What calls asked for that nobody may answer any more. It is shown to nobody from then on, also before it is gone. */
export async function forgetAskedTexts(database: Pick<Database, 'query'>): Promise<void> {
  await database.query({
    name: 'forget asked texts',
    text: 'update approval_request set text_box = null where text_box is not null and open_until < now()',
  });
}

/** Requests whose time was over long ago: what was asked and answered stays on the book, as its events. */
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

/** Ends what waits for an answer, with its link, and drops approvals that no call has taken: the same call asks again. */
export async function endApprovals(tx: Tx): Promise<void> {
  await tx.query('update approval_request set open_until = now() where decision is null and open_until > now()');
  await tx.query(`delete from approval_request a where decision = 'approve' and not ${TAKEN}`);
}
