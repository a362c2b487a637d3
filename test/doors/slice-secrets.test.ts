import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from 'vitest';
import { assignDoorsOf, bearerOf } from '../harness/doors/assignments.ts';
import { openService, type Service } from '../harness/doors/open-service.ts';
import { openSocket } from '../harness/doors/socket.ts';

let service: Service;
let agent: Awaited<ReturnType<Service['newAgent']>>;
let token: string;
beforeAll(async () => {
  service = await openService(
    { LOG_LEVEL: 'trace' },
    // A test breaks these tables on purpose while the service handles the token.
    { meant: /slice_assignment|kept_away/ },
  );
  agent = await service.newAgent();
  ({ token } = await tokenOf(agent, { grant_type: 'collect', grantee: 'g' }));
});
const { tokenOf, revoke } = assignDoorsOf(() => service);

/** Sends the token in every way, whether it is accepted there or not. */
async function shownEverywhere(): Promise<readonly string[]> {
  const inflow = `/v1/agents/${agent.agent_id}/book/inflow`;
  const SLICE = '{ bookSlice { agentId entries { seq } } }';
  const answers = [
    await service.get(`/v1/book/slice?token=${token}`),
    await service.get(`/v1/book/slice?token=${token}&limit=0`),
    await service.get(`/v1/book/slice?token=${token}&token=${token}`),
    await service.get('/v1/book/slice', bearerOf(token)),
    await service.get(`/v1/book/${token}`),
    await service.get(`/v1/models?token=${token}`, { ...bearerOf(token), 'x-request-id': token }),
    await service.knock('PUT', `/v1/book/slice?token=${token}`),
    await service.post(inflow, { allocation: '1' }, bearerOf(token)),
    await service.post(inflow, { allocation: 'none', task_id: '!' }, bearerOf(token)),
    await service.post('/graphql', { query: SLICE }, bearerOf(token)),
  ];
  // An unknown name is repeated to its sender, but may appear nowhere else.
  await service.get(`/v1/book/slice?token=${token}&${token}=1`);
  await service.post(`/graphql?token=${token}`, { query: `{ ${token} }` }, bearerOf(token));
  const socket = openSocket(service, { authorization: `Bearer ${token}` });
  await socket.first(SLICE).catch(() => {});
  return answers.flatMap(({ text, headers }) => [text, ...headers.values()]);
}

async function dumped(): Promise<string> {
  const tables = await service.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
      where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  expect(tables.map(({ name }) => name)).toContain('public.slice_assignment');
  const texts = await Promise.all(
    tables.map(async ({ name }) =>
      (await service.query<{ row: string }>(`select t::text as row from ${name} t`)).map(({ row }) => row),
    ),
  );
  return texts.flat().join('\n');
}

it('no line of the log, no metric, no answer and no column holds a token, whatever broke with it in hand', async () => {
  const answers = [...(await shownEverywhere())];
  await service.query('alter table slice_assignment rename to slice_away');
  answers.push(...(await shownEverywhere()));
  await service.query('alter table slice_away rename to slice_assignment');
  // Postgres's error contains the whole row that it refused.
  await service.query("alter table slice_assignment add constraint kept_away check (grantee <> 'k') not valid");
  const kept = await service.post(
    `/v1/agents/${agent.agent_id}/book/assign`,
    { grantee: 'k' },
    { 'X-SVC-Session': agent.session },
  );
  expect(kept.status).toBe(500);
  await service.query('alter table slice_assignment drop constraint kept_away');
  const { assignment_id } = await tokenOf(agent);
  await revoke(agent, assignment_id);
  answers.push(...(await shownEverywhere()));

  const last = randomUUID();
  await service.get('/v1/models', { 'x-request-id': last });
  const logs = () => service.gateway.logs.join('\n');
  await expect.poll(logs).toContain(last);
  expect(logs()).toContain('/v1/book/slice');
  expect(logs()).toContain('slice_assignment');
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  const dump = await dumped();
  expect(dump).toContain(assignment_id);

  const secret = token.slice('svca_'.length, -8);
  const spelt = [secret, Buffer.from(token).toString('hex'), Buffer.from(token).toString('base64').slice(0, 40)];
  for (const [where, text] of Object.entries({ logs: logs(), metrics, dump, answers: answers.join('\n') }))
    for (const needle of spelt) expect(text.includes(needle), where).toBe(false);
  expect(logs()).not.toMatch(/svca_/);
  expect(dump).not.toMatch(/svca_/);
});
