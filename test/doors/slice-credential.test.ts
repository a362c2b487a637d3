import { beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../gateway/parts.ts';
import type { Door, DoorMethod } from '../../rest-compat/door.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { writePost } from '../harness/board/board.ts';
import { assignDoorsOf, bearerOf } from '../harness/doors/assignments.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { openService, type Service } from '../harness/doors/open-service.ts';
import { mutations, operationOf, queries, subscriptions } from '../harness/doors/root-fields.ts';
import { openSocket } from '../harness/doors/socket.ts';
import { atEnd } from '../harness/release.ts';

/* A slice token gives access to its slice and to nothing else. It is tried at every endpoint and field, including later ones. */

let service: Service;
let agent: Awaited<ReturnType<Service['newAgent']>>;
let token: string;
beforeAll(async () => {
  service = await openService();
  agent = await service.newAgent();
  ({ token } = await tokenOf(agent, { grant_type: 'collect' }));
});
const { tokenOf, revoke } = assignDoorsOf(() => service);

const graphql = (query: string, headers: Record<string, string> = {}, variables: JsonObject = {}) =>
  onGraph(service, query, variables, headers);

/** Root fields that accept a token. */
const OPENED: readonly string[] = ['bookSlice', 'recordInflow'];

describe('on /graphql', () => {
  it('an inflow is recorded by a token that collects, and corrected by none', async () => {
    const RECORD = `mutation ($agentId: Int!, $input: InflowInput!) { recordInflow(agentId: $agentId, input: $input) { taskId } }`;
    const asked = { agentId: agent.agent_id, input: { allocation: '9', taskId: 'by-graph' } };
    expect((await graphql(RECORD, bearerOf(token), asked)).body).toEqual({
      data: { recordInflow: { taskId: 'by-graph' } },
    });
    const reads = await tokenOf(agent);
    const refused = await graphql(RECORD, bearerOf(reads.token), asked);
    expect(refused.body.errors?.[0]?.extensions).toMatchObject({ code: 'forbidden' });
  });

  const asked = [
    ...queries.map(field => ['query', field.name, field] as const),
    ...mutations.map(field => ['mutation', field.name, field] as const),
  ].filter(([, name]) => !OPENED.includes(name));

  it('asks every field but the two that it is for', () => {
    expect(asked.length).toBe(queries.length + mutations.length - OPENED.length);
    const names = asked.map(([, name]) => name);
    for (const known of [
      'book',
      'bookPolicy',
      'assignments',
      'setBudget',
      'correctInflow',
      'createChatCompletion',
      'viewer',
    ])
      expect(names).toContain(known);
  });

  it.each(asked)('%s %s answers a token as it answers nobody', async (kind, _, field) => {
    const query = operationOf(kind, field, agent.agent_id);
    const [nobody, shown] = [await graphql(query), await graphql(query, bearerOf(token))];
    expect(shown.status).toBe(nobody.status);
    expect(shown.body).toEqual(nobody.body);
    expect(
      field.args.every(({ name }) => name !== 'agentId') || nobody.body.errors !== undefined || isPublic(field.name),
    ).toBe(true);
  });

  /** Fields that name an agent and that everyone may read. */
  const isPublic = (name: string) => ['agentRecord', 'agent'].includes(name);
});

describe('on a socket', () => {
  const resultOn = async (query: string, params: Record<string, unknown>): Promise<unknown> => {
    const { first } = openSocket(service, params);
    return first(query).catch((fault: unknown) => fault);
  };
  /** Subscriptions that everyone may follow and that send nothing until an event happens. */
  const FOR_ALL: readonly string[] = ['boardEvents'];

  it('the slice is read by its token, and by no revoked one, whenever the socket was opened', async () => {
    const own = await tokenOf(agent);
    const { first } = openSocket(service, { Authorization: `Bearer ${own.token}` }, { lazy: false });
    expect(await first('{ bookSlice { agentId } }')).toMatchObject({
      data: { bookSlice: { agentId: agent.agent_id } },
    });
    await revoke(agent, own.assignment_id);
    await expect(first('{ bookSlice { agentId } }')).rejects.toMatchObject([{ extensions: { code: 'token_invalid' } }]);
  });

  it('the events of the board, which are for anybody, are told to a token as to nobody', async () => {
    const database = await openStore(service.database_url);
    atEnd(() => database.close());
    await writePost(database, 'post_for_all');
    const query = 'subscription { boardEvents(after: 0) { position kind postId } }';
    const told = { data: { boardEvents: { position: 1, kind: 'post_created', postId: 'post_for_all' } } };
    expect(await resultOn(query, {})).toEqual(told);
    expect(await resultOn(query, bearerOf(token))).toEqual(told);
  });

  const others = subscriptions.filter(({ name }) => !FOR_ALL.includes(name));
  it.each(others.map(field => [field.name, field] as const))(
    'subscription %s answers a token as it answers nobody',
    async (_, field) => {
      const query = operationOf('subscription', field, agent.agent_id);
      const [nobody, shown] = [await resultOn(query, {}), await resultOn(query, bearerOf(token))];
      expect(JSON.parse(JSON.stringify(shown))).toEqual(JSON.parse(JSON.stringify(nobody)));
      expect(Array.isArray(nobody)).toBe(true);
    },
  );
});

describe('at the doors', () => {
  const statusOf = async (path: string, headers: Record<string, string>) => {
    const { status, body } = await fetch(service.url + path, { headers });
    await body?.cancel();
    return { status, code: null };
  };
  const FOR_TOKENS: readonly string[] = ['get_book_slice', 'record_inflow'];
  const pathOf = ({ path }: Door) =>
    path
      .replace('{agent_id}', String(agent.agent_id))
      .replaceAll(/\{\w+\}/g, 'none')
      .replace('*', 'none');
  const asked = everyDoor
    .filter(({ name }) => !FOR_TOKENS.includes(name))
    .flatMap(door => door.methods.map(method => [method, door.path, door] as const));

  it.each(asked)('%s %s answers a token as it answers nobody', async (method: DoorMethod, _, door) => {
    const body = method === 'GET' ? {} : { body: {} };
    const answerTo = async (headers: Record<string, string>, query = '') => {
      // The end of an endless answer is not awaited.
      if (door.media === 'text/event-stream') return statusOf(pathOf(door), headers);
      const heard = await service.knock<JsonObject>(method, pathOf(door) + query, { ...body, headers });
      return { status: heard.status, code: heard.body?.code ?? null };
    };
    const nobody = await answerTo({});
    // If the endpoint expects a bearer secret, a token is a wrong one.
    const heard = door.board_secret === 'inbound' ? { status: 403, code: null } : nobody;
    expect(await answerTo(bearerOf(token))).toEqual(heard);
    if (['required', 'session', 'bound'].includes(door.possession))
      expect(await answerTo({}, `?token=${token}`)).toEqual({ status: 401, code: null });
  });
});
