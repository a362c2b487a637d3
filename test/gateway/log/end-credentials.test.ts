import { expect, it } from 'vitest';
import { endCredentials } from '../../../gateway/log/end-credentials.ts';
import { freshStore } from '../../harness/store.ts';

it('ends approvals that wait for an answer, drops those that no call has taken, and keeps what was denied', async () => {
  const database = await freshStore();
  const rows = [
    { approval_id: 'waits', decision: null, taken_by: null },
    { approval_id: 'unused', decision: 'approve', taken_by: null },
    { approval_id: 'let go of', decision: 'approve', taken_by: 'no such claim' },
    { approval_id: 'denied', decision: 'deny', taken_by: null },
  ];
  await database.query({
    text: `insert into approval_request (approval_id, agent_id, request_hash, amount_atomic, payer, field, seq, task_id, policy_code,
        asked_at, open_until, decision, taken_by)
      select approval_id, 1, 'h', 1, '0x', 'f', 1, 't', 'c', now(), now() + interval '1 hour', decision, taken_by
      from jsonb_populate_recordset(null::approval_request, $1::jsonb)`,
    values: [JSON.stringify(rows)],
  });
  await database.transaction(tx => endCredentials(tx, '2026-01-02T03:04:05.678Z'));
  const text = 'select approval_id, open_until > now() as open from approval_request order by 1';
  expect(await database.query({ text })).toEqual([
    { approval_id: 'denied', open: true },
    { approval_id: 'waits', open: false },
  ]);
});
