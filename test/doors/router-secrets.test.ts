import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from 'vitest';
import { openService, type Service } from '../harness/doors/open-service.ts';
import { bearer, report, routerDoorsOf, startRouter } from '../harness/doors/router.ts';
import { openSocket } from '../harness/doors/socket.ts';

let service: Service;
let router: Awaited<ReturnType<typeof startRouter>>;
beforeAll(async () => {
  router = await startRouter();
  service = await openService(
    { ROUTER_URL: router.base_url, LOG_LEVEL: 'trace' },
    // A test breaks these tables on purpose while the service handles the keys.
    { meant: /router_book|router_generation|kept_away/ },
  );
});
const { open, setKey, broadcast, summary } = routerDoorsOf(() => service);

async function dumped(): Promise<string> {
  const tables = await service.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
      where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  expect(tables.map(({ name }) => name)).toContain('public.router_book');
  const texts = await Promise.all(
    tables.map(async ({ name }) =>
      (await service.query<{ row: string }>(`select t::text as row from ${name} t`)).map(({ row }) => row),
    ),
  );
  return texts.flat().join('\n');
}

it('no line of the log, no metric, no answer and no column holds an ingest key or a router key, whatever broke with it in hand', async () => {
  const { body: book, text: told_once } = await open({ label: 'l' });
  const { book_id, ingest_key } = book;
  expect(told_once.split(ingest_key)).toHaveLength(2);
  const router_keys = [`sk-or-first-${randomUUID()}`, `sk-or-second-${randomUUID()}`];
  const shown = bearer(ingest_key);
  const heard: { text: string; headers: Headers }[] = [];
  const everyWay = async () => {
    for (const key of router_keys) {
      heard.push(await setKey(book_id, key, shown));
      heard.push(await setKey(book_id, { key }, shown));
      heard.push(await setKey(`${book_id}x`, key, shown));
      router.answerWithCost({ model: 'some/model', cost: '0.00125' });
      heard.push(await broadcast(ingest_key, report()));
      // A router that repeats the key of its caller in its answer.
      router.behave(({ headers }, response) => {
        response.writeHead(200, { 'x-echo': String(headers.authorization) }).end(String(headers.authorization));
      });
      heard.push(await broadcast(ingest_key, report()));
      router.behave((_, response) => void response.destroy());
      heard.push(await broadcast(ingest_key, report({ rail: 'Not One' })));
      heard.push(await broadcast(ingest_key, report()));
      const query = 'mutation ($b: String!, $k: String!) { setRouterKey(bookId: $b, key: $k) { hasRouterKey } }';
      for (const variables of [
        { b: book_id, k: key },
        { b: book_id, k: `${key} ` },
        { b: [], k: key },
      ])
        heard.push(await service.post('/graphql', { query, variables }, shown));
    }
    heard.push(await summary(book_id, shown));
    heard.push(await service.get(`/v1/models?key=${ingest_key}`, { ...shown, 'x-request-id': ingest_key }));
    heard.push(await service.knock('DELETE', '/v1/router/broadcast', { headers: shown }));
    const socket = openSocket(service, { authorization: `Bearer ${ingest_key}` });
    await socket.first(`{ routerBookSummary(bookId: "${book_id}") { count } }`).catch(() => {});
  };
  await everyWay();
  for (const table of ['router_book', 'router_generation']) {
    await service.query(`alter table ${table} rename to away`);
    await everyWay();
    await service.query(`alter table away rename to ${table}`);
  }
  // Postgres's error contains the whole row that it refused.
  await service.query('alter table router_book add constraint kept_away check (label is null) not valid');
  const kept = await open({ label: 'k' });
  expect(kept.status).toBe(500);
  heard.push(kept, await setKey(book_id, router_keys[0], shown));
  await service.query('alter table router_book drop constraint kept_away');

  const last = randomUUID();
  await service.get('/v1/models', { 'x-request-id': last });
  const logs = () => service.gateway.logs.join('\n');
  await expect.poll(logs).toContain(last);
  expect(logs()).toContain('/v1/router/broadcast');
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  const dump = await dumped();
  expect(dump).toContain(book_id);
  const answers = heard.flatMap(({ text, headers }) => [text, ...headers.values()]).join('\n');
  const spelt = [ingest_key.slice('svcr_'.length, -8), ...router_keys].flatMap(secret => [
    secret,
    Buffer.from(secret).toString('hex'),
    Buffer.from(secret).toString('base64').slice(0, 40),
  ]);
  for (const [where, text] of Object.entries({ logs: logs(), metrics, dump, answers }))
    for (const needle of spelt) expect(text.includes(needle), where).toBe(false);
  expect(logs()).not.toMatch(/svcr_/);
  expect(dump).not.toMatch(/svcr_/);
});
