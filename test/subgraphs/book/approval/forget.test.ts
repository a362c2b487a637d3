import { expect, it } from 'vitest';
import { approvalLimits } from '../../../../schema/limits.ts';
import { forgetApprovals } from '../../../../subgraphs/book/approval/forget.ts';
import { freshStore } from '../../../harness/store.ts';

it('a request is forgotten so long after its time, answered or not', async () => {
  const database = await freshStore();
  const { kept_days } = approvalLimits;
  const ages = [0, kept_days - 1, kept_days + 1, kept_days + 2];
  for (const [index, days] of ages.entries())
    await database.query({
      text: `insert into approval_request (approval_id, agent_id, request_hash, amount_atomic, payer, field, seq, task_id,
          policy_code, asked_at, open_until, decision)
        values ($1, 1, 'a', 1, '0x', 'Mutation.x', 1, 'task', 'tier2', now(), now() - make_interval(days => $2), $3)`,
      values: [`approval_${index}`, days, index % 2 === 0 ? null : 'deny'],
    });
  await forgetApprovals(database);
  const kept = await database.query({ text: 'select approval_id from approval_request order by 1' });
  expect(kept).toEqual([{ approval_id: 'approval_0' }, { approval_id: 'approval_1' }]);
});
