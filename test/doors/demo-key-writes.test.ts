import { beforeAll, describe, expect, it } from 'vitest';
import type { Door } from '../../rest-compat/door.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import {
  bodiesOf,
  createObjects,
  type DoorObjects,
  fingerprints,
  hasMutation,
  pathWith,
} from '../harness/doors/door-walk.ts';
import { openService, type Service } from '../harness/doors/open-service.ts';
import { isPaid, mutations, operationOf, queries } from '../harness/doors/root-fields.ts';

/* Every endpoint and mutation that writes for free, taken from the tables of both so that later ones are included. */

const DEMO = { 'X-API-Key': 'a-demo-key' };

let service: Service;
let agent: Awaited<ReturnType<Service['newAgent']>>;
let things: DoorObjects;
beforeAll(async () => {
  service = await openService({ DEMO_KEYS: 'a-demo-key' });
  agent = await service.newAgent();
  things = await createObjects(service, agent, await service.newAgent());
});
const inHeader = () => ({ ...DEMO, 'X-SVC-Session': agent.session });

/**
 * Whether an endpoint writes for free. Endpoints with their own secret are left out, because no session opens them, with or without an API
 * key.
 */
const writes = (door: Door): boolean =>
  hasMutation(door) && door.price === null && door.ingest_key === 'none' && door.board_secret === 'none';
const writingDoors = everyDoor.filter(writes);

const pathOf = ({ path }: Door): string => pathWith(path, { ...things });
const headersOf = ({ name }: Door): Readonly<Record<string, string>> =>
  name === 'answer_linked_approval' ? { 'X-SVC-Approval': 'any' } : {};

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
      'answer_approval',
      'pick_bid',
    ])
      expect(names).toContain(known);
  });

  it.each(asked)('%s %s', async (method, _, door) => {
    const before = await fingerprints(service);
    for (const body of bodiesOf(door, things)) {
      const knocks: { headers: Record<string, string>; body: JsonObject }[] = [{ headers: inHeader(), body }];
      // If no session is required, a body has no member for one.
      if (door.possession !== 'none') knocks.push({ headers: DEMO, body: { ...body, session: agent.session } });
      for (const { headers, ...sent } of knocks) {
        const heard = await service.knock(method, pathOf(door), {
          headers: { ...headersOf(door), ...headers },
          ...sent,
        });
        expect(heard, `${door.name} takes no such body: name one in door-walk.ts`).toMatchObject({
          status: 403,
          text: '',
        });
      }
    }
    expect(await fingerprints(service)).toEqual(before);
  });

  it('DELETE without a body', async () => {
    const before = await fingerprints(service);
    for (const [method, , door] of asked)
      if (method === 'DELETE')
        expect(await service.knock(method, pathOf(door), { headers: inHeader() })).toMatchObject({
          status: 403,
          text: '',
        });
    expect(await fingerprints(service)).toEqual(before);
  });
});

describe('a demo key beside the session of the book reads no escrow', () => {
  it('403, empty, at GET /v1/agents/{agent_id}/book/a2a-escrow', async () => {
    const path = `/v1/agents/${agent.agent_id}/book/a2a-escrow`;
    expect(await service.get(path, inHeader())).toMatchObject({ status: 403, text: '' });
  });

  it.each(queries.filter(({ name }) => /escrow/i.test(name)).map(field => [field.name, field] as const))(
    'query %s: forbidden',
    async (_, field) => {
      const query = operationOf('query', field, agent.agent_id);
      const { body } = await service.post('/graphql', { query }, inHeader());
      expect(body).toMatchObject({ errors: [{ extensions: { code: 'forbidden', status: 403 } }] });
    },
  );
});

const unpaid = mutations.filter(field => !isPaid(field));

describe('a demo key beside the session of the book: forbidden, and nothing is written', () => {
  it('is asked of the mutations that are known to write', () => {
    const names = unpaid.map(({ name }) => name);
    for (const known of ['setBudget', 'setBookPolicy', 'setAlerts', 'publishExport', 'withdrawExport', 'rotateSession'])
      expect(names).toContain(known);
  });

  it.each(unpaid.map(field => [field.name, field] as const))('mutation %s', async (_, field) => {
    const before = await fingerprints(service);
    const heard = await service.post<{ readonly errors?: readonly JsonObject[] }>(
      '/graphql',
      { query: operationOf('mutation', field, agent.agent_id) },
      inHeader(),
    );
    const [refused] = heard.body.errors ?? [];
    expect(refused, heard.text).toMatchObject({
      message: 'A demo key cannot write.',
      extensions: { code: 'forbidden', status: 403 },
    });
    expect(await fingerprints(service)).toEqual(before);
  });
});
