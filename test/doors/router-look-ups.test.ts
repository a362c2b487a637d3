import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { routerLimits } from '../../schema/limits.ts';
import { openService, type Service } from '../harness/doors/open-service.ts';
import { bearer, report, routerDoorsOf, startRouter } from '../harness/doors/router.ts';

let service: Service;
let router: Awaited<ReturnType<typeof startRouter>>;
let keyed: { readonly book_id: string; readonly ingest_key: string };
beforeAll(async () => {
  router = await startRouter();
  service = await openService({ ROUTER_URL: router.base_url, RATE_FREE: '100000/1' });
  keyed = (await open()).body;
  await setKey(keyed.book_id, 'sk-or-key', bearer(keyed.ingest_key));
});
const TOLD = { model: 'some/model', cost: '0.00125' };
beforeEach(async () => {
  router.answerWithCost(TOLD);
  await service.query('delete from router_use');
});
const { open, setKey, broadcast } = routerDoorsOf(() => service);
const receiptOf = async (task_id: string) => (await service.get(`/receipt/${task_id}.json`)).body;

describe('a look-up under the key of the book', () => {
  it('matches by id, model and a cost less than one unit away: signed, and never asked again', async () => {
    for (const [cost, amount] of [
      ['0.00125', '1250'],
      ['1.25e-3', '1250'],
      ['0.0012509999', '1250'],
      ['0.0012509999', '1251'],
      ['12', '12000000'],
    ] as const) {
      router.answerWithCost({ model: 'some/model', cost });
      const said = report({ amount });
      const { body } = await broadcast(keyed.ingest_key, said);
      expect([cost, body.verified_with, body.look_up]).toEqual([cost, router.host, 'matched']);
      expect(await receiptOf(body.task_id)).toMatchObject({ reported: { verified_with: router.host } });
      const asked = router.asked.length;
      const { body: again } = await broadcast(keyed.ingest_key, said);
      expect(again).toEqual({ ...body, look_up: 'matched_before', idempotent_replay: true });
      expect(router.asked).toHaveLength(asked);
    }
  });

  it('asks ROUTER_URL alone, the id encoded, the key in its header and nowhere else', async () => {
    for (const generation_id of ['../../admin?x=1&id=other#top', '..%2f..%2fkeys', 'a+b=c;d'].map(id => `${id}-1`)) {
      const { body } = await broadcast(keyed.ingest_key, report({ generation_id }));
      expect(body).toMatchObject({ generation_id, look_up: 'matched' });
      const { url, headers } = router.asked.at(-1) ?? { url: '', headers: {} };
      const { pathname, searchParams } = new URL(url, 'http://router');
      expect([pathname, [...searchParams]]).toEqual(['/api/v1/generation', [['id', generation_id]]]);
      expect(headers.authorization).toBe('Bearer sk-or-key');
      expect(Object.entries(headers).filter(([, value]) => String(value).includes('sk-or-key'))).toHaveLength(1);
      expect(url).not.toContain('sk-or');
    }
  });

  it.each<[what: string, told: { id?: string; model: string; cost: string }, look_up: string]>([
    ['another id', { ...TOLD, id: 'gen-other' }, 'other_generation'],
    ['another model', { ...TOLD, model: 'some/Model' }, 'other_model'],
    ['another cost', { ...TOLD, cost: '0.001252' }, 'other_amount'],
    ['a cost that is none', { ...TOLD, cost: '-0.00125' }, 'other_amount'],
    ['a cost beyond all bounds', { ...TOLD, cost: '1e99' }, 'other_amount'],
    ['no cost', { ...TOLD, cost: 'null' }, 'failed'],
  ])('leaves it unverified where it tells %s', async (_, told, look_up) => {
    router.answerWithCost(told);
    const { status, body } = await broadcast(keyed.ingest_key, report());
    expect([status, body]).toMatchObject([201, { verified_with: null, look_up }]);
    expect((await receiptOf(body.task_id)).reported).not.toHaveProperty('verified_with');
  });

  it.each<[what: string, look_up: string, behave: Parameters<typeof router.behave>[0]]>([
    ['404', 'not_found', (_, response) => void response.writeHead(404).end('{}')],
    ['401', 'failed', (_, response) => void response.writeHead(401).end('{}')],
    ['a page', 'failed', (_, response) => void response.writeHead(200).end('<html>sk-or-key</html>')],
    ['a list', 'failed', (_, response) => void response.writeHead(200).end('[]')],
    ['deep JSON', 'failed', (_, response) => void response.writeHead(200).end('['.repeat(60_000))],
    ['bytes that are no text', 'failed', (_, response) => void response.writeHead(200).end(Buffer.from([0xff]))],
    ['a body without an end', 'failed', (_, response) => flood(response)],
    ['a broken line', 'failed', (_, response) => void response.destroy()],
  ])('leaves it unverified where it answers %s', async (_, look_up, behave) => {
    router.behave(behave);
    const { status, body } = await broadcast(keyed.ingest_key, report());
    expect([status, body]).toMatchObject([201, { verified_with: null, look_up }]);
  });

  it('follows no redirect, and takes no key along', async () => {
    const elsewhere = await startRouter();
    router.behave((_, response) => void response.writeHead(302, { location: elsewhere.base_url }).end());
    expect((await broadcast(keyed.ingest_key, report())).body.look_up).toBe('failed');
    expect(elsewhere.asked).toEqual([]);
  });

  it('that came to nothing is made again when it is broadcast again; the receipt stays as it was signed', async () => {
    router.behave(() => {});
    const said = report();
    const first = await broadcast(keyed.ingest_key, said);
    expect([first.status, first.body.look_up]).toEqual([201, 'failed']);
    router.answerWithCost(TOLD);
    const receipt = await receiptOf(first.body.task_id);
    const { status, body } = await broadcast(keyed.ingest_key, said);
    expect([status, body]).toEqual([
      200,
      { ...first.body, look_up: 'matched', verified_with: router.host, idempotent_replay: true },
    ]);
    expect((await receiptOf(body.task_id)).payload).toEqual(receipt.payload);
  });

  it('is not made where too many of the hour have come to nothing', async () => {
    const max = routerLimits.failed_look_ups_per_key_hour_max;
    await service.query(
      `insert into router_use values ('look-up:${keyed.book_id}', date_trunc('hour', now(), 'UTC'), ${max - 1})`,
    );
    const asked = router.asked.length;
    for (const [cost, look_up] of [
      ['0.00125', 'matched'],
      ['1', 'other_amount'],
      ['0.00125', 'resting'],
    ] as const) {
      router.answerWithCost({ model: 'some/model', cost });
      expect((await broadcast(keyed.ingest_key, report())).body.look_up).toBe(look_up);
    }
    expect(router.asked).toHaveLength(asked + 2);
  });

  it('two at once under one key; whoever finds no turn is told so, and nothing stands', async () => {
    let underway = 0;
    let most = 0;
    const turned_away = Promise.withResolvers<void>();
    router.behave(async (_, response) => {
      most = Math.max(most, ++underway);
      await turned_away.promise;
      underway--;
      response.writeHead(404).end();
    });
    const broadcasting = Array.from({ length: 20 }, async () => {
      const answer = await broadcast(keyed.ingest_key, report());
      if (answer.status === 429) turned_away.resolve();
      return answer;
    });
    const answers = await Promise.all(broadcasting);
    expect(most).toBeLessThanOrEqual(routerLimits.look_ups_per_key_at_once_max);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20 - refused.length);
  });
});

function flood(response: { writeHead(status: number): unknown; write(text: string): unknown }): void {
  response.writeHead(200);
  for (let times = 0; times < 40; times++) response.write('x'.repeat(4_096));
}
