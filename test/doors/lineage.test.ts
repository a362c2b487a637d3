import pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { lineageLimits } from '../../schema/limits.ts';
import { ask, type Service, sharedService } from '../harness/doors/open-service.ts';
import { policyDoorsOf } from '../harness/doors/policies.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
/** An agent with these rows: the stamp, a chat that follows from it, and two that follow from that chat, of which the second is refused. */
let agent: Agent;
let other: Agent;
let child: string;
let grandchild: string;
let refused: string;
beforeAll(async () => {
  service = await sharedService();
  const shop = policyDoorsOf(service);
  [agent, other] = [await service.newAgent(), await service.newAgent()];
  const buy = async (content: string, parent: string) =>
    (await service.buy(agent.account, ask(content), { 'X-SVC-Parent': parent })).body.svc.task_id;
  child = await buy('Child', agent.task_id);
  grandchild = await buy('Grandchild', child);
  await shop.set(agent, 'kill_switch', true);
  refused = String((await shop.chatToRefusal(agent, ask('Refused', { parent_ref: child }))).heard.body.task_id);
});

const path = (task_id: string, query = '') => `/v1/agents/${agent.agent_id}/book/lineage/${task_id}${query}`;
const session = () => ({ 'X-SVC-Session': agent.session });
const read = (task_id: string, query = '', headers: Record<string, string> = session()) =>
  service.get(path(task_id, query), headers);
const tasks = (rows: unknown) => (rows as { task_id: string }[]).map(({ task_id }) => task_id);

describe('GET /v1/agents/{agent_id}/book/lineage/{task_id}', () => {
  it('200 of the first row: itself the root, all that follows from it, in the order of the book', async () => {
    const { status, body } = await read(agent.task_id);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      agent_id: agent.agent_id,
      self: { task_id: agent.task_id, seq: 1, depth: 0, evidence: 'collected', amount: '2000', rail: 'usdc' },
      ancestors: [],
      descendants: [
        { task_id: child, seq: 2, depth: 1, parent_ref: agent.task_id, model: 'alpha-1', hub: 'alpha' },
        { task_id: grandchild, seq: 3, depth: 2, parent_ref: child },
        { task_id: refused, seq: 4, depth: 2, parent_ref: child, evidence: 'policy_blocked', collected: false },
      ],
      truncated: false,
      next: null,
    });
    expect(body.root).toEqual(body.self);
  });

  it('200 of a row in the midst and of one at the end, ancestors nearest first', async () => {
    const midst = (await read(child)).body;
    expect([tasks(midst.ancestors), tasks(midst.descendants)]).toEqual([[agent.task_id], [grandchild, refused]]);
    const end = (await read(grandchild)).body;
    expect([tasks(end.ancestors), end.descendants]).toEqual([[child, agent.task_id], []]);
    expect(end.root).toMatchObject({ task_id: agent.task_id, depth: 2 });
    expect(end.self).toMatchObject({ task_id: grandchild });
  });

  it('200 page by page: next is what after wants', async () => {
    const first = (await read(agent.task_id, '?limit=2')).body;
    expect([tasks(first.descendants), first.next]).toEqual([[child, grandchild], 3]);
    const second = (await read(agent.task_id, `?limit=2&after=${first.next}`)).body;
    expect([tasks(second.descendants), second.next]).toEqual([[refused], null]);
  });

  it.each([
    ['limit', '?limit=0'],
    ['limit', '?limit=x'],
    ['after', '?after=-1'],
    ['before', '?before=3'],
  ])('400 naming %s: %s', async (param, query) => {
    expect(await read(child, query)).toMatchObject({ status: 400, body: { error: { param } } });
  });

  it('403 of a task that stands on another book, or on none, alike', async () => {
    const refused = { status: 403, body: { code: 'task_not_on_book' } };
    expect(await read(other.task_id)).toMatchObject(refused);
    expect(await read('task_of_nobody')).toMatchObject(refused);
  });

  it('429 where too many of one book are read at once, and 200 again when they are not', async () => {
    const { reads_at_once_max, reads_waiting_per_book_max } = lineageLimits;
    const beyond = 5;
    const standing = new pg.Client({ connectionString: service.database_url });
    await standing.connect();
    const heard: { readonly status: number }[] = [];
    let reads: Promise<unknown>;
    try {
      // The lock makes the reads that have a turn wait.
      await standing.query('begin; lock table book_row in access exclusive mode');
      const count = reads_at_once_max + reads_waiting_per_book_max + beyond;
      reads = Promise.all(Array.from({ length: count }, async () => heard.push(await read(child))));
      await expect.poll(() => heard.length).toBeGreaterThanOrEqual(beyond);
      expect(heard[0]).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    } finally {
      await standing.end();
    }
    await reads;
    expect(await read(child)).toMatchObject({ status: 200 });
  });

  it('503 of a book that its audit has closed', async () => {
    await service.query(`update book set damage = '{}' where agent_id = $1`, [agent.agent_id]);
    expect(await read(child)).toMatchObject({ status: 503, body: { code: 'book_damaged' } });
    await service.query('update book set damage = null where agent_id = $1', [agent.agent_id]);
  });
});
