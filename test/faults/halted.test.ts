import { beforeAll, describe, expect, it } from 'vitest';
import type { Door } from '../../rest-compat/door.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { mutations, operationOf } from '../harness/doors/root-fields.ts';
import { answerTo, newBuyer } from '../harness/faults/buyer.ts';
import { eventually, type Ground, openGround } from '../harness/faults/ground.ts';
import { haltOf, olderState } from '../harness/faults/halted.ts';
import { startWire } from '../harness/faults/wire.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/*
 * All tables have gone back under a service that runs, and its log is halted. Then no credential opens anything, nothing is
 * written, and what is not found may have been there.
 */

let ground: Ground;
let gateway: RunningService;
let older: Awaited<ReturnType<typeof olderState>>;
let agent_id: number;
/** Ended by the second, which the older state does not know. */
let rotated_away: string;
let newest: string;
let lost_task: string;

beforeAll(async () => {
  ground = await openGround();
  const wire = await startWire(ground.database_url);
  gateway = await ground.start({ url: wire.url });
  const buyer = await newBuyer(ground);
  const registered = await answerTo(gateway, await buyer.registration());
  agent_id = Number(registered.body.agent_id);
  rotated_away = String(registered.body.session);
  older = await olderState(ground, [wire]);
  const rotation = await post(`/v1/agents/${agent_id}/book/rotate`, { session: rotated_away });
  newest = String((rotation.body as JsonObject).session);
  expect(newest).not.toBe(rotated_away);
  const lost = await answerTo(gateway, await buyer.chat('lost'));
  lost_task = String((lost.body.svc as JsonObject).task_id);
  expect((await get(`/receipt/${lost_task}.json`)).status).toBe(200);
  older.turnBack();
  await eventually('halted', () => haltOf(gateway));
});

async function call(method: string, path: string, body: object | null, headers: Record<string, string> = {}) {
  const answer = await fetch(gateway.url + path, {
    method,
    headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text.startsWith('{') ? (JSON.parse(text) as unknown) : text };
}
const post = (path: string, body: object, headers?: Record<string, string>) => call('POST', path, body, headers);
const get = (path: string, headers?: Record<string, string>) => call('GET', path, null, headers);

/** All rows of each table, as a digest. */
async function contents(): Promise<unknown> {
  const tables = await older.database.query<{ name: string }>({
    text: `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`,
  });
  // Whose process beats, whose a worker of jobs is, and how far the chain has come: nothing that anybody is told or owed.
  const told = tables.filter(({ name }) => !['process_lease', 'job_worker', 'chain_epoch'].includes(name));
  const counts = told.map(async ({ name }) => {
    const [row] = await older.database.query<{ digest: string | null }>({
      text: `select md5(string_agg(t::text, ' ' order by t::text)) as digest from "${name}" t`,
    });
    return [name, row?.digest] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

const writing = everyDoor.filter(door => door.kind === 'document' && door.effect !== 'reads');

/** Its path as if it were about this agent and something that might be there. */
function pathOf({ path }: Door): string {
  return path.replace('{agent_id}', String(agent_id)).replaceAll(/\{[^}]+\}/g, '1');
}

describe('while the log is halted', () => {
  it.each(writing.map(door => [door.methods.at(-1) ?? 'POST', door.path, door] as const))(
    '%s %s: 503 to whoever presents a session, and nothing is written',
    async (method, _path, door) => {
      const before = await contents();
      for (const session of [rotated_away, newest]) {
        const { status } = await call(method, pathOf(door), method === 'GET' ? null : (door.example ?? {}), {
          'x-svc-session': session,
        });
        expect(status).toBe(503);
      }
      expect(await contents()).toEqual(before);
    },
  );

  it.each(mutations.map(field => [field.name, field] as const))(
    'mutation %s: `unavailable` to whoever presents a session, and nothing is written',
    async (_name, field) => {
      const query = operationOf('mutation', field, agent_id);
      const before = await contents();
      const { body } = await post('/graphql', { query }, { 'x-svc-session': rotated_away });
      expect(body).toMatchObject({ errors: [{ extensions: { code: 'unavailable' } }] });
      expect(await contents()).toEqual(before);
    },
  );

  it.each([
    ['GET', () => `/v1/agents/${agent_id}/book`],
    ['GET', () => `/v1/agents/${agent_id}/book/export?format=json`],
    ['GET', () => '/v1/models'],
  ])('%s of what is read: 503 to whoever presents a session', async (method, path) => {
    for (const session of [rotated_away, newest])
      expect((await call(method, path(), null, { 'x-svc-session': session })).status).toBe(503);
  });

  it('503 to an API key, and 401 or 402 to whoever presents nothing', async () => {
    const ask = { model: 'test/model', messages: [{ role: 'user', content: 'Hello' }] };
    expect((await post('/v1/chat/completions', ask, { 'x-api-key': 'a-live-key' })).status).toBe(503);
    expect((await post('/v1/chat/completions', ask)).status).toBe(402);
    expect((await get(`/v1/agents/${agent_id}/book`)).status).toBe(401);
  });

  it.each([
    ['a receipt', () => `/receipt/${lost_task}.json`],
    ['its preimage', () => `/receipt/${lost_task}/preimage`],
    ['the status of its task', () => `/task-status?task_id=${lost_task}`],
    ['its proof', () => `/prove-result?task_id=${lost_task}`],
    ['its place in the log', () => `/log/proof/${lost_task}`],
    ['its inclusion', () => `/log/inclusion?task_id=${lost_task}`],
    ['a refusal', () => '/refusal/refusal_0123456789abcdef?format=json'],
  ])('503, never 404, for %s that is not found', async (_what, path) => {
    expect((await get(path())).status).toBe(503);
  });

  it.each([
    '/.well-known/revocations',
    '/.well-known/issuer-history.json',
    '/.well-known/receipt-policy-history.json',
    `/v1/sessions/0x${'a'.repeat(64)}`,
    '/log/checkpoint',
  ])('503 for %s, which may have lost entries', async path => {
    expect((await get(path)).status).toBe(503);
  });

  it('what lasts and is of this process is served: models, keys, documents, health', async () => {
    for (const path of ['/v1/models', '/.well-known/jwks.json', '/openapi.json', '/health', '/livez'])
      expect((await get(path)).status).toBe(200);
  });
});
