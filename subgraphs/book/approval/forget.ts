import { approvalLimits } from '../../../schema/session/approval.ts';
import type { Database } from '../../database.ts';

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
