import { expect, it } from 'vitest';
import { BoardSelfDealt } from '../../../subgraphs/board/post/self-dealt.migration.ts';
import { landAt } from '../../harness/ledger/dated.ts';
import { withBooks } from '../../harness/ledger/fixture.ts';
import { freshStore } from '../../harness/store.ts';

/* Posts that rest on money which their author has kept, from before such receipts were refused. */

const OWN = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const SECOND = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const SHOP = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';

it('are marked, and stand by their stamps alone; others are as they were', async () => {
  const database = await freshStore();
  const run = (text: string) => database.query({ text });
  await withBooks(database, 1);
  await run(
    `insert into agent (agent_id, wallet, task_id, request_hash, registered_at) values (1, '${OWN}', 'task_r', '', now())`,
  );
  const paid = (task_id: string, payer_wallet: string, pay_to: string) => ({
    at: '2026-03-01T12:00:00.000Z',
    task_id,
    evidence: 'foreign_ingest' as const,
    payer_wallet,
    facts: { pay_to },
  });
  await landAt(database, 1, [
    paid('itself', SECOND, SECOND.toLowerCase()),
    paid('author', SECOND, OWN),
    paid('shop', OWN, SHOP),
    { at: '2026-03-01T12:00:00.000Z', task_id: 'here' },
  ]);
  await run('alter table board_post drop column spend_backed, drop column self_dealt');
  const posted = ['itself', 'author', 'shop', 'here', null].map(
    (ref, at) =>
      `('post_${at}', 1, 'shop.example', 'signed', 'success', ${ref && `'${ref}'`}, 'task_s', 2500000, now())`,
  );
  await run(
    `insert into board_post (post_id, agent_id, endpoint_host, host_basis, outcome, receipt_ref, stamp_task_id,
      amount_atomic, posted_at) values ${posted.join()}`,
  );
  for (const text of ['drop index board_post_agent', ...new BoardSelfDealt().statements()]) await run(text);
  const marked = { self_dealt: true, spend_backed: false, amount: '2000', host_basis: 'declared' };
  const kept = { self_dealt: false, spend_backed: true, amount: '2500000', host_basis: 'signed' };
  expect(
    await run(
      'select self_dealt, spend_backed, amount_atomic::text as amount, host_basis from board_post order by post_id',
    ),
  ).toEqual([marked, marked, kept, kept, { ...kept, spend_backed: false }]);
});
