import { Kind } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Door } from '../../rest-compat/door.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { openService, type Service } from '../harness/doors/open-service.ts';
import { isPaid, mutations, operationOf } from '../harness/doors/root-fields.ts';

/* Every door and every mutation that writes by possession, as the tables of both have them: those that come later too. */

const DEMO = { 'X-API-Key': 'a-demo-key' };

let service: Service;
let agent: Awaited<ReturnType<Service['newAgent']>>;
beforeAll(async () => {
  service = await openService({ DEMO_KEYS: 'a-demo-key' });
  agent = await service.newAgent();
  await service.post(`/v1/agents/${agent.agent_id}/book/export/publish`, { session: agent.session });
});

/** Whatever the database holds of an agent, table by table; but for the totals, which a job builds from the log meanwhile. */
async function standing(): Promise<Record<string, unknown>> {
  const tables = await service.query<{ name: string }>(
    `select table_name as name from information_schema.columns where column_name = 'agent_id' and table_schema = 'public' and table_name not like 'totals\\_%'`,
  );
  expect(tables.length).toBeGreaterThan(8);
  const found = await Promise.all(
    tables.map(async ({ name }) => {
      const text = `select md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as rows from ${name} t`;
      return [name, (await service.query(text))[0]?.rows] as const;
    }),
  );
  return Object.fromEntries(found);
}

const writes = (door: Door): boolean =>
  door.kind === 'document' &&
  door.price === null &&
  door.possession !== 'none' &&
  door.documents.some(({ definitions }) =>
    definitions.some(it => it.kind === Kind.OPERATION_DEFINITION && it.operation === 'mutation'),
  );
const writingDoors = everyDoor.filter(writes);

/** Of what is valid only by more than its shape, or writes only where an optional member is there. */
const bodies: Readonly<Record<string, JsonObject>> = {
  get_agent_book: { budget: '1' },
  set_book_policy: { policy_type: 'kill_switch', value: true },
  set_book_alerts: { burn_factor: 9 },
  start_reconciliation: { wallet: `0x${'1'.repeat(40)}`, from_block: 0, to_block: 0 },
  ledger_escrow: { action: 'open', task_id: 'any' },
  deliver_job: { output_sha256: '0'.repeat(64) },
  a2a_escrow: { action: 'open', job_spec_hash: '0'.repeat(64), amount: '1', parties: { counterparty_agent_id: 2 } },
};

interface Shape {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Shape[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
}

/** Something of that shape: its members that are required. */
function sampleOf({ type, enum: words, anyOf, properties = {}, required = [], ...shape }: Shape): unknown {
  if (shape.const !== undefined) return shape.const;
  if (words) return words[0];
  if (anyOf?.[0]) return sampleOf(anyOf[0]);
  if (type === 'object') return Object.fromEntries(required.map(name => [name, sampleOf(properties[name] ?? {})]));
  if (type === 'array') return [];
  if (type === 'integer' || type === 'number') return Math.max(1, shape.minimum ?? 1);
  if (type === 'boolean') return true;
  return '1';
}

const bodyOf = (door: Door): JsonObject =>
  bodies[door.name] ??
  (sampleOf(z.toJSONSchema(door.requests.body, { io: 'input', unrepresentable: 'any' }) as Shape) as JsonObject);

const ID = '0'.repeat(26);

const pathOf = ({ path }: Door): string =>
  path
    .replace('{agent_id}', String(agent.agent_id))
    .replace('/posts/{id}', `/posts/post_${ID}`)
    .replace('{commentId}', `comment_${ID}`)
    .replaceAll(/\{\w+\}/g, 'none');

describe('a demo key beside the session of the book: 403, empty, and nothing is written', () => {
  const asked = writingDoors.flatMap(door =>
    door.methods.filter(method => method !== 'GET').map(method => [method, door.path, door] as const),
  );

  it('is asked of the doors that are known to write', () => {
    const names = writingDoors.map(({ name }) => name);
    for (const known of [
      'get_agent_book',
      'set_book_policy',
      'set_book_alerts',
      'publish_book_export',
      'rotate_session',
    ])
      expect(names).toContain(known);
  });

  it.each(asked)('%s %s', async (method, _, door) => {
    const before = await standing();
    const heard = await service.knock(method, pathOf(door), {
      body: bodyOf(door),
      headers: { ...DEMO, 'X-SVC-Session': agent.session },
    });
    expect(heard, `a valid body of ${door.name} is named in this file`).toMatchObject({ status: 403, text: '' });
    expect(await standing()).toEqual(before);
  });
});

const unpaid = mutations.filter(field => !isPaid(field));

describe('a demo key beside the session of the book: forbidden, and nothing is written', () => {
  it('is asked of the mutations that are known to write', () => {
    const names = unpaid.map(({ name }) => name);
    for (const known of ['setBudget', 'setBookPolicy', 'setAlerts', 'publishExport', 'withdrawExport', 'rotateSession'])
      expect(names).toContain(known);
  });

  it.each(unpaid.map(field => [field.name, field] as const))('mutation %s', async (_, field) => {
    const before = await standing();
    const heard = await service.post<{ readonly errors?: readonly JsonObject[] }>(
      '/graphql',
      { query: operationOf('mutation', field, agent.agent_id) },
      { ...DEMO, 'X-SVC-Session': agent.session },
    );
    const [refused] = heard.body.errors ?? [];
    expect(refused, heard.text).toMatchObject({
      message: 'A demo key writes nothing.',
      extensions: { code: 'forbidden', status: 403 },
    });
    expect(await standing()).toEqual(before);
  });
});
