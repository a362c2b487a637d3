import pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ApprovalDecision } from '../../schema/session/approval.ts';
import { approvalToken } from '../../subgraphs/book/approval/link.ts';
import { openVault } from '../../subgraphs/vault.ts';
import { approvalDoorsOf } from '../harness/doors/approvals.ts';
import { ask, openService, type Service } from '../harness/doors/open-service.ts';
import { atEnd } from '../harness/release.ts';
import { signAct } from '../harness/session/delegate.ts';
import { familiesOf } from '../harness/session/families.ts';
import { sessionPath } from '../harness/session/trees.ts';

/* Simultaneous answers to one request for approval, by everyone who may answer it. */

const SEAL_KEY = 'a key that seals and marks, of a test alone';
let service: Service;
let holder: pg.Client;
beforeAll(async () => {
  service = await openService({ SEAL_KEY });
  holder = new pg.Client({ connectionString: service.database_url });
  await holder.connect();
  atEnd(() => holder.end());
});

const { newest, answer, walletAnswer } = approvalDoorsOf(() => service);
const { family } = familiesOf(() => service);
type Family = Awaited<ReturnType<typeof family>>;
type Answer = () => ReturnType<typeof answer>;

/** Prepared answers by each means. Each returns a function that sends it. */
const means = {
  wallet: async ({ worker, call }: Family, decision: ApprovalDecision): Promise<Answer> => {
    const body = await walletAnswer(worker.account, call.request, decision);
    return () => answer(worker, call.request.approval_id, body);
  },
  link: async ({ call }: Family, decision: ApprovalDecision): Promise<Answer> => {
    const { approval_id } = call.request;
    const headers = { 'X-SVC-Approval': approvalToken({ vault: openVault(SEAL_KEY) }, approval_id) };
    return () => service.post(`/v1/approvals/${approval_id}`, { decision }, headers);
  },
  act: async ({ parent, resource }: Family): Promise<Answer> => {
    const body = await signAct(parent, { action: 'approve', resource });
    return () => service.post(sessionPath(parent.delegation_hash, 'act'), body);
  },
} as const;

/** Waits until that many sessions wait for a lock. */
const waiting = (count: number) =>
  expect
    .poll(
      async () => {
        const text = `select count(*)::int as waiting from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`;
        return (await service.query<{ waiting: number }>(text))[0]?.waiting;
      },
      { interval: 5 },
    )
    .toBe(count);

/** Starts two answers that both find the request open and then wait for its book, so that neither is earlier. */
async function atOnce(agent_id: number, first: Answer, second: Answer) {
  await holder.query('begin');
  await holder.query('select 1 from book where agent_id = $1 for update', [agent_id]);
  const answers = [first()];
  await waiting(1);
  answers.push(second());
  await waiting(2);
  await holder.query('commit');
  return Promise.all(answers);
}

const eventStatuses = async ({ worker, call }: Family) => {
  const events = await service.query<{ status: string }>(
    `select body::jsonb->>'status' as status from book_event
      where agent_id = $1 and kind = 'approval' and body::jsonb->>'approval_id' = $2 order by position`,
    [worker.agent_id, call.request.approval_id],
  );
  return events.map(({ status }) => status);
};

describe('two opposite answers at once', () => {
  it.each([
    ['wallet', 'link'],
    ['link', 'wallet'],
    ['act', 'link'],
    ['act', 'wallet'],
  ] as const)('%s approves and %s denies: one stands, the other is 409 approval_closed', async (yes, no) => {
    for (const approves_first of [true, false]) {
      const asked = await family(`${yes} and ${no}, ${approves_first}`);
      const [approve, deny] = [await means[yes](asked, 'approve'), await means[no](asked, 'deny')];
      const { agent_id } = asked.worker;
      const order = approves_first ? ([approve, deny] as const) : ([deny, approve] as const);
      const heard = await atOnce(agent_id, ...order);
      expect(heard.map(({ status }) => status).sort()).toEqual([200, 409]);
      const first_stands = heard[0]?.status === 200;
      const stands = first_stands === approves_first ? 'approved' : 'denied';
      expect(heard.find(({ status }) => status === 409)?.body).toMatchObject({
        code: 'approval_closed',
        approval_status: stands,
      });
      expect(await newest(asked.worker)).toMatchObject({
        status: stands,
        decided_by: stands === 'approved' ? yes : no,
      });
      expect(await eventStatuses(asked)).toEqual(['open', stands]);
      expect((await asked.call.send()).status).toBe(stands === 'approved' ? 200 : 403);
    }
  });
});

const RACED = 'Approved by many';

describe('acts that approve one call at once', () => {
  const racing = async (senders: readonly Answer[], at_once: number) => {
    const left = [...senders];
    const statuses: number[] = [];
    const racer = async () => {
      for (let send = left.pop(); send; send = left.pop()) statuses.push((await send()).status);
    };
    await Promise.all(Array.from({ length: at_once }, racer));
    return statuses;
  };
  /** Expects that the request was answered once and that the call passes once. */
  const passesOnce = async (asked: Family) => {
    const { worker, child, call } = asked;
    expect(await eventStatuses(asked)).toEqual(['open', 'approved']);
    expect((await call.send()).status).toBe(200);
    expect((await service.buy(worker.account, ask(RACED), child.headers)).status).toBe(403);
  };

  it('1,000 with one nonce: 200 for one, 409 act_nonce_used for all others', async () => {
    const asked = await family(RACED);
    const send = await means.act(asked);
    const statuses = await racing(
      Array.from({ length: 1_000 }, () => send),
      100,
    );
    expect(statuses.filter(status => status === 200)).toHaveLength(1);
    expect(statuses.filter(status => status === 409)).toHaveLength(999);
    await passesOnce(asked);
  });

  it('200 with a nonce each: one answers it, whoever else found it open hears that, and nobody else finds it', async () => {
    const asked = await family(RACED);
    const senders = await Promise.all(Array.from({ length: 200 }, () => means.act(asked)));
    const statuses = await racing(senders, 50);
    expect(statuses.filter(status => status === 200).length).toBeGreaterThan(0);
    expect(statuses.filter(status => status !== 200 && status !== 404)).toEqual([]);
    // An act that was answered 404 has used no nonce.
    const [taken] = await service.query<{ acts: number }>(
      'select count(*)::int as acts from act_use where delegation_hash = $1',
      [asked.parent.delegation_hash],
    );
    expect(taken?.acts).toBe(statuses.filter(status => status === 200).length);
    await passesOnce(asked);
  });
});
