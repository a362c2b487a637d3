import { beforeAll, describe, expect, it } from 'vitest';
import { openTakeClaim } from '../../../gateway/charge/take-claim.ts';
import { openQueues } from '../../../gateway/record/queues.ts';
import { atomicAmount } from '../../../schema/amount.ts';
import { agentId } from '../../../schema/ids.ts';
import { parsePolicy } from '../../../schema/requests/policy.ts';
import { answerApproval } from '../../../subgraphs/book/approval/answer.ts';
import { findApprovals } from '../../../subgraphs/book/approval/find.ts';
import { BlockedCalls } from '../../../subgraphs/book/ledger/blocked-calls.ts';
import { setPolicy } from '../../../subgraphs/book/policy/set.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { claimRequest } from '../../harness/claim/fixture.ts';
import { refuser, withBooks } from '../../harness/ledger/fixture.ts';
import { freshStore } from '../../harness/store.ts';

const AGENT = agentId(1);
const PRICE = atomicAmount(2000n);
const call = { field: 'Mutation.createChatCompletion', model: null, models: [], intent_id: null, attempt_index: null };

let database: Database;
let take: ReturnType<typeof openTakeClaim>;
beforeAll(async () => {
  database = await freshStore();
  await withBooks(database, 1);
  await setPolicy(database, AGENT, parsePolicy('tier2_above', '1999'));
  const recorder = () => Promise.reject(new Error('nothing is recorded here'));
  const queues = openQueues(database, recorder, { refuser, blocked_calls: new BlockedCalls() }, null);
  const bound = { request_hash: 'a'.repeat(64), amount_atomic: PRICE, landing: { paid_from_mark: 'm' } };
  take = openTakeClaim({
    database,
    queue: queues.claim,
    log: { sound: true } as never,
    giving_up: null as never,
    later: null as never,
    hears: null as never,
    requestOf: async ({ claim_key, task_id }) => ({
      request: claimRequest(claim_key, {
        ...bound,
        task_id,
        means: { balance_atomic: 10n ** 12n, moved: [] } as never,
      }),
      book: AGENT,
      holds_atomic: PRICE,
      call: { ...call, parent_ref: null },
    }),
  });
});

const buy = async (claim_key: string) =>
  (await take({ claim_key, task_id: claimRequest('x').task_id } as never, false, null as never)).outcome;

async function rows(): Promise<number> {
  const [found] = await database.query<{ n: number }>({ text: 'select count(*)::int as n from book_row' });
  return found?.n ?? 0;
}

describe('a call that a person has approved, and another policy refuses', () => {
  it('hears that refusal, with one row of each payment, however often it comes', async () => {
    expect((await buy('first')).kind).toBe('blocked');
    const [found] = await findApprovals(database, { agent_id: AGENT, limit: 1 });
    await database.transaction(tx => answerApproval(tx, found as never, { decision: 'approve', by: 'wallet' }));
    await setPolicy(database, AGENT, parsePolicy('kill_switch', true));
    const before = await rows();
    const heard: unknown[] = [];
    for (const key of ['second', 'second', 'second', 'first', 'first']) heard.push(await buy(key));
    const [one, , , another] = heard;
    expect(one).toMatchObject({ kind: 'blocked' });
    expect(another).toMatchObject({ kind: 'blocked' });
    expect(heard).toEqual([one, one, one, another, another]);
    expect(await rows()).toBe(before + 2);
  });

  it('passes once that policy is gone, with another payment', async () => {
    await setPolicy(database, AGENT, parsePolicy('kill_switch', null));
    expect((await buy('third')).kind).toBe('claimed');
    expect((await buy('fourth')).kind).toBe('blocked');
  });
});
