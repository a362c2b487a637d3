import { beforeAll, describe, expect, it } from 'vitest';
import { inflowDoorsOf } from '../harness/doors/inflows.ts';
import { ask, CHAT, type Service, sharedService } from '../harness/doors/open-service.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
let agent: Agent;
beforeAll(async () => {
  service = await sharedService();
  agent = await service.newAgent();
});

const { book, record, correct, gaps } = inflowDoorsOf(() => service);
const reason = 'It was another.';
const none = {
  status: 'none',
  authoritative: null,
  merged_by: null,
  chains: 0,
  corrections: 0,
  forks: 0,
  task_id: null,
};

describe('GET /v1/agents/{agent_id}/book/gaps', () => {
  it('200: without a gap; a replay takes no seq, a refused call and a correction do', async () => {
    const report = { schema: 'svc402.book_seq_report.v1', agent_id: agent.agent_id, gapless: true };
    expect(await gaps(agent)).toMatchObject({ status: 200, body: { ...report, seq: 1, count: 1, supersession: none } });
    const payment = await service.payment(agent.account, CHAT);
    for (const _ of [1, 2, 3]) await service.post(CHAT, ask('Once'), payment);
    expect((await gaps(agent)).body).toMatchObject({ ...report, seq: 2, count: 2 });
    const policy = (value: boolean) =>
      service.post(book(agent, '/policy'), { session: agent.session, policy_type: 'kill_switch', value });
    await policy(true);
    await service.buy(agent.account, ask('Refused'));
    await policy(false);
    expect((await gaps(agent)).body).toMatchObject({ ...report, seq: 3, count: 3 });
    const { body: row } = await record(agent, { allocation: '1' });
    await correct(agent, { task_id: row.task_id ?? '', reason });
    expect((await gaps(agent)).body).toMatchObject({ ...report, seq: 5, count: 5 });
  });

  it('200: none, linear, forked; authoritative only where one successor stands', async () => {
    const own = await service.newAgent();
    const task_id = String((await record(own, { allocation: '1' })).body.task_id);
    const other = String((await record(own, { allocation: '2' })).body.task_id);
    expect((await gaps(own)).body.supersession).toEqual(none);

    const one = String((await correct(own, { task_id, reason })).body.correction.task_id);
    const two = String((await correct(own, { task_id: one, reason })).body.correction.task_id);
    const linear = { status: 'linear', authoritative: two, merged_by: null, chains: 1, corrections: 2, forks: 0 };
    expect((await gaps(own)).body.supersession).toEqual({ ...linear, task_id: null });

    // The two chains end separately, so neither decides for the book. Each decides for itself only.
    const third = String((await correct(own, { task_id: other, reason })).body.correction.task_id);
    expect((await gaps(own)).body.supersession).toMatchObject({ status: 'linear', authoritative: null, chains: 2 });
    for (const member of [task_id, one, two])
      expect((await gaps(own, `?task_id=${member}`)).body.supersession).toEqual({ ...linear, task_id: member });

    await correct(own, { task_id, reason: 'It was a third.' });
    expect((await gaps(own)).body).toMatchObject({
      gapless: true,
      supersession: { status: 'forked', authoritative: null, chains: 2, corrections: 4, forks: 1 },
    });
    expect((await gaps(own, `?task_id=${two}`)).body.supersession).toMatchObject({ status: 'forked', forks: 1 });
    expect((await gaps(own, `?task_id=${other}`)).body.supersession).toMatchObject({
      status: 'linear',
      authoritative: third,
    });
  });

  it('200 with `none` on a row that no correction can be of', async () => {
    expect((await gaps(agent, `?task_id=${agent.task_id}`)).body.supersession).toEqual({
      ...none,
      task_id: agent.task_id,
    });
  });

  it.each(['?task=x', '?task_id=', '?limit=1'])('400 on %s', async query => {
    expect(await gaps(agent, query)).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });

  it('404 on a task that is no row of the book', async () => {
    const other = await service.newAgent();
    for (const task_id of ['nothing', other.task_id])
      expect(await gaps(agent, `?task_id=${task_id}`)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  it('503 on a book that its audit has closed', async () => {
    const own = await service.newAgent();
    await service.query(`update book set damage = '{"what":"row_missing","place":1}' where agent_id = $1`, [
      own.agent_id,
    ]);
    expect(await gaps(own)).toMatchObject({ status: 503, body: { code: 'book_damaged' } });
  });
});
