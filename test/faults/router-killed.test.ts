import { beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { savedHead } from '../../subgraphs/receipt/log/saved-head.ts';
import { type Broadcast, bearer, report, startRouter } from '../harness/doors/router.ts';
import type { DyingService } from '../harness/faults/dying-service.ts';
import { type Ground, openGround } from '../harness/faults/ground.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/* Each generation has one receipt, regardless of which process dies and how many processes receive it. */

let ground: Ground;
let router: Awaited<ReturnType<typeof startRouter>>;
let first: RunningService;
let second: RunningService;
/** Services by the point at which each dies. */
let dying: Readonly<Record<'before_record' | 'in_record' | 'after_record', DyingService>>;
let key: string;
beforeAll(async () => {
  router = await startRouter();
  router.answerWithCost({ model: 'some/model', cost: '0.00125' });
  ground = await openGround({ environment: { ROUTER_URL: router.base_url } });
  // Started first, because it creates the tables.
  first = await ground.start();
  second = await ground.start();
  dying = {
    before_record: await ground.startDying({ plan: { point: 'before_record' } }),
    in_record: await ground.startDying({ plan: { point: 'in_record' } }),
    after_record: await ground.startDying({ plan: { point: 'after_record' } }),
  };
  const book = (await (await send(first, 'POST', '/v1/router/books', {})).json()) as Record<string, string>;
  key = String(book.ingest_key);
  const kept = await send(first, 'PUT', `/v1/router/books/${book.book_id}/router-key`, { key: 'sk-or-key' });
  expect(kept.status).toBe(200);
});

const send = (
  { url }: Pick<RunningService, 'url'>,
  method: string,
  path: string,
  body: JsonObject,
  headers: Readonly<Record<string, string>> = {},
) =>
  fetch(url + path, {
    method,
    headers: { 'content-type': 'application/json', ...(key ? bearer(key) : {}), ...headers },
    body: JSON.stringify(body),
  });

async function broadcast(at: Pick<RunningService, 'url'>, said: JsonObject) {
  const answer = await send(at, 'POST', '/v1/router/broadcast', said);
  return { status: answer.status, body: (await answer.json()) as Broadcast };
}

async function standing(): Promise<readonly [generations: number, receipts: number]> {
  const [row] = await ground.database.query<{ generations: number; receipts: number }>({
    text: `select (select count(*)::int from router_generation) as generations, (select count(*)::int from receipt) as receipts`,
  });
  return [row?.generations ?? 0, row?.receipts ?? 0];
}

it('killed between look-up and record, or in the midst of it: nothing stands, and the next one records it', async () => {
  const said = [report(), report()] as const;
  const before = await standing();
  for (const [index, point] of (['before_record', 'in_record'] as const).entries()) {
    const asked = router.asked.length;
    await broadcast(dying[point], said[index] ?? {}).catch(() => {});
    await dying[point].died;
    expect(router.asked).toHaveLength(asked + 1);
  }
  expect(await standing()).toEqual(before);
  for (const one of said) expect((await broadcast(first, one)).status).toBe(201);
  expect(await standing()).toEqual([before[0] + 2, before[1] + 2]);
});

it.each(['before_record', 'in_record', 'after_record'] as const)(
  'killed %s, under an Idempotency-Key: the key stands with its receipt or not at all',
  async point => {
    const said = report();
    const headers = { 'Idempotency-Key': `broadcast-${point}` };
    const before = await standing();
    const doomed = await ground.startDying({ plan: { point } });
    await send(doomed, 'POST', '/v1/router/broadcast', said, headers).catch(() => {});
    await doomed.died;
    const again = await send(first, 'POST', '/v1/router/broadcast', said, headers);
    const told = (await again.json()) as { code?: string };
    expect([again.status, told.code]).toEqual(
      point === 'after_record' ? [409, 'idempotency_key_in_flight'] : [201, undefined],
    );
    expect(await standing()).toEqual([before[0] + 1, before[1] + 1]);
  },
);

it('killed once it stands and before its head is saved: the same receipt, told under a head that is saved', async () => {
  const said = report();
  await broadcast(dying.after_record, said).catch(() => {});
  await dying.after_record.died;
  const before = await standing();
  const { status, body } = await broadcast(second, said);
  expect([status, body.look_up, body.verified_with]).toEqual([200, 'matched_before', router.host]);
  const [receipt] = await ground.database.query<{ tree_size: number }>({
    text: 'select tree_size from receipt where task_id = $1',
    values: [body.task_id],
  });
  const saved = await savedHead(ground.saved_head).read();
  expect(saved?.tree_size).toBeGreaterThanOrEqual(Number(receipt?.tree_size));
  expect(await standing()).toEqual(before);
});

it('two processes that are told of one generation at once leave one receipt; other facts of it are refused', async () => {
  const before = await standing();
  const said = report();
  const twice = Array.from({ length: 4 }, () => [first, second]).flat();
  const answers = await Promise.all(twice.map(at => broadcast(at, said)));
  expect(new Set(answers.map(({ body }) => body.task_id)).size).toBe(1);
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(await standing()).toEqual([before[0] + 1, before[1] + 1]);

  const other = report();
  const contradicting = await Promise.all([
    broadcast(first, { ...other, rail: 'usdc' }),
    broadcast(second, { ...other, rail: 'card' }),
  ]);
  expect(contradicting.map(({ status }) => status).sort()).toEqual([201, 409]);
  const sums = await ground.database.query({
    text: `select (select sum(count)::int from router_sum) as counted,
      (select count(*)::int from router_generation where verified_with is not null) as verified`,
  });
  expect(sums[0]?.counted).toBe(sums[0]?.verified);
});
