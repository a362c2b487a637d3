import { createClient } from 'graphql-ws';
import { Agent, fetch as fetchBy } from 'undici';
import { beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { openGraph } from '../../gateway/graph/open-graph.ts';
import type { EveryService } from '../../gateway/http/callers.ts';
import { type Serve, serveGateway } from '../../gateway/http/serve-gateway.ts';
import { subgraphs } from '../../gateway/parts.ts';
import type { Door } from '../../rest-compat/door.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { canonicalJson, type JsonObject } from '../../schema/canonical-json.ts';
import { sha256Hex } from '../../schema/digest.ts';
import { EXAMPLE_ADDRESS } from '../../schema/eip55.ts';
import { agentId } from '../../schema/ids.ts';
import { nobody, type Principal } from '../../schema/principal.ts';
import { type CallHeaders, ResponseHeaders } from '../../subgraphs/context.ts';
import { isPaid, mutations, operationOf, queries } from '../harness/doors/root-fields.ts';
import { answerTo, newBuyer, type Order } from '../harness/faults/buyer.ts';
import { eventually, type Ground, openGround } from '../harness/faults/ground.ts';
import { haltOf, olderState } from '../harness/faults/log-halt.ts';
import { startDatabaseProxy } from '../harness/faults/wire.ts';
import { logTo } from '../harness/graph/shop.ts';
import { modern } from '../harness/mcp-message.ts';
import { atEnd } from '../harness/release.ts';
import { delegate, signRevocation } from '../harness/session/delegate.ts';
import { newKey, sessionPath } from '../harness/session/trees.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/*
 * All tables are set back to an older state under a running service, which halts its log. Afterwards no credential is accepted and nothing
 * is written, and a missing record is not answered as 404, because it may have existed.
 */

let ground: Ground;
let gateway: RunningService;
let older: Awaited<ReturnType<typeof olderState>>;
let agent_id: number;
/** A session that was replaced by `newest`. In the older state it is still valid. */
let rotated_away: string;
let newest: string;
let lost_task: string;
let kept: Order;
/** A session of an agent that is the same in both states. */
let steady: string;
let steady_id: number;
/** The context of the process's resolvers. */
let services: EveryService;
/** Slug of an export that was withdrawn after the older state. */
let slug: string;
/** A write under an Idempotency-Key without credentials. Both states contain its answer. */
let named: () => ReturnType<typeof post>;
/** Subscriptions that were opened before the halt, each with a promise of the code that closed it. */
let followed: Record<'by session' | 'by nobody', ReturnType<typeof follow>>;
let streamed: Response;

beforeAll(async () => {
  ground = await openGround({ environment: { LOG_ENTRIES: 'public' } });
  const wire = await startDatabaseProxy(ground.database_url);
  const serve: Serve = (config, opened, serving) => {
    services = opened;
    return serveGateway(config, opened, serving);
  };
  gateway = await ground.start({ url: wire.url, options: { serve } });
  const wallet = await ground.chain.newWallet();
  const buyer = await newBuyer(ground, wallet);
  const registered = await answerTo(gateway, await buyer.registration());
  agent_id = Number(registered.body.agent_id);
  rotated_away = String(registered.body.session);
  kept = await buyer.chat('kept');
  expect((await answerTo(gateway, kept)).status).toBe(200);
  const published = await post(`/v1/agents/${agent_id}/book/export/publish`, { session: rotated_away });
  slug = String((published.body as JsonObject).slug);
  const other = await newBuyer(ground);
  const also = await answerTo(gateway, await other.registration());
  steady_id = Number(also.body.agent_id);
  steady = String(also.body.session);
  const leaked = await delegate(wallet, wallet, newKey());
  const revocation = await signRevocation(wallet, leaked.delegation_hash);
  named = () =>
    post(sessionPath(leaked.delegation_hash, 'revoke'), revocation, { ...leaked.headers, 'idempotency-key': 'named' });
  const revoked = await named();
  expect(revoked.status).toBe(200);
  expect(await named()).toEqual(revoked);
  older = await olderState(ground, [wire]);
  // The process caches these lists until the board changes.
  for (const path of keptLists) expect((await get(path)).status).toBe(200);
  const rotation = await post(`/v1/agents/${agent_id}/book/rotate`, { session: rotated_away });
  newest = String((rotation.body as JsonObject).session);
  expect(newest).not.toBe(rotated_away);
  const lost = await answerTo(gateway, await buyer.chat('lost'));
  lost_task = String((lost.body.svc as JsonObject).task_id);
  expect((await get(`/receipt/${lost_task}.json`)).status).toBe(200);
  followed = {
    'by session': follow({ session: steady }, `subscription { bookRows(agentId: ${steady_id}) { position } }`),
    'by nobody': follow({}, 'subscription { boardEvents { position } }'),
  };
  await Promise.all(Object.values(followed).map(({ opened }) => opened));
  streamed = await eventsOf(`subscription { bookRows(agentId: ${steady_id}) { position } }`, steady);
  older.turnBack();
  await eventually('halted', () => haltOf(gateway));
});

/** Subscribes on a new socket. `closed` resolves with the event that closed it. */
function follow(connectionParams: Record<string, unknown>, query: string) {
  const opened = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<CloseEvent>();
  const client = createClient({
    url: `${gateway.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams,
    retryAttempts: 0,
    lazy: false,
    onNonLazyError: () => {},
    on: { connected: () => opened.resolve(), closed: event => closed.resolve(event as CloseEvent) },
  });
  atEnd(async () => client.dispose());
  client.subscribe({ query }, { next: () => {}, error: () => {}, complete: () => {} });
  return { opened: opened.promise, closed: closed.promise };
}

/** Starts a response of server-sent events. */
async function eventsOf(query: string, session: string): Promise<Response> {
  const headers = { 'content-type': 'application/json', 'x-svc-session': session };
  const sent = { method: 'POST', headers, body: JSON.stringify({ query }) };
  return fetch(`${gateway.url}/graphql/stream`, sent);
}

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

const nothingBrought: CallHeaders = {
  payment: null,
  router_key: null,
  redelivery: null,
  idempotency_key: null,
  delegation: null,
  note: null,
};

/** A digest of all rows for each table. */
async function contents(): Promise<unknown> {
  const tables = await older.database.query<{ name: string }>({
    text: `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`,
  });
  // The remaining tables contain heartbeats, job workers and the progress of the chain. No client sees them and no debt depends on them.
  const told = tables.filter(({ name }) => !['process_lease', 'job_worker', 'chain_epoch'].includes(name));
  const counts = told.map(async ({ name }) => {
    const [row] = await older.database.query<{ digest: string | null }>({
      text: `select md5(string_agg(t::text, ' ' order by t::text)) as digest from "${name}" t`,
    });
    return [name, row?.digest] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

interface Vouchable {
  readonly payload: string;
  readonly payload_hash: string;
  readonly jws: string;
  readonly proof_outcome: string;
  readonly settled_by: string;
  readonly omission_rule: string | null;
}

/** The same receipt, signed again as one that rests on the statement of a facilitator. */
function vouched(receipt: Vouchable): Vouchable {
  const basis = { settlement_basis: 'receipt' };
  const payload = canonicalJson({ ...(JSON.parse(receipt.payload) as JsonObject), ...basis });
  const payload_hash = sha256Hex(payload);
  const claims = JSON.parse(Buffer.from(receipt.jws.split('.')[1] ?? '', 'base64url').toString()) as JsonObject;
  const jws = services.issuer.signJws({ ...claims, ...basis, payload_hash });
  return { ...receipt, payload, payload_hash, jws, settled_by: 'receipt' };
}

function store(task_id: string, receipt: Vouchable) {
  const { payload, payload_hash, jws, proof_outcome, settled_by, omission_rule } = receipt;
  return older.database.query({
    text: `update receipt set payload = $2, payload_hash = $3, jws = $4, proof_outcome = $5, settled_by = $6, omission_rule = $7
      where task_id = $1`,
    values: [task_id, payload, payload_hash, jws, proof_outcome, settled_by, omission_rule],
  });
}

const writing = everyDoor.filter(door => door.kind === 'document' && door.effect !== 'reads');

/** The endpoint's path with this agent's id and with other ids that might exist. */
function pathOf({ path }: Door): string {
  return path.replace('{agent_id}', String(agent_id)).replaceAll(/\{[^}]+\}/g, '1');
}

/**
 * Statuses that a caller without credentials may get, by the columns of an endpoint's row: a demand for payment or for a credential, or the
 * halt.
 */
function withoutCredentials({
  price,
  challenge,
  possession,
  board_secret,
  ingest_key,
  waived_by,
}: Door): readonly number[] {
  if (price !== null && challenge === 'first' && waived_by === null) return [402];
  if (possession === 'required' || possession === 'session' || possession === 'bound') return [401];
  return board_secret !== 'none' || ingest_key !== 'none' ? [401, 403] : [400, 401, 402, 503];
}

/**
 * Path of a record that might have existed, for each free read endpoint that can answer 404. Models are left out, because they belong to
 * the hubs.
 */
const lost_records: Readonly<Record<string, () => string>> = {
  '/public/export/{slug}': () => `/public/export/${slug}`,
  '/v1/approvals/{approval_id}': () => '/v1/approvals/approval_0123456789abcdefghjkmnpqrs',
  '/v1/agents/{agent_id}/record': () => '/v1/agents/4711/record',
  '/v1/sessions/{delegation_hash}': () => `/v1/sessions/0x${'a'.repeat(64)}`,
  '/receipt/{task_id}': () => `/receipt/${lost_task}.json`,
  '/receipt/{id}/preimage': () => `/receipt/${lost_task}/preimage`,
  '/task-status': () => `/task-status?task_id=${lost_task}`,
  '/prove-result': () => `/prove-result?task_id=${lost_task}`,
  '/v1/settlements/{payment_id}': () => `/v1/settlements/0x${'b'.repeat(64)}`,
  '/dispute/{dispute_id}': () => '/dispute/dispute_0123456789abcdefghjkmnpqrs',
  '/refusal/{refusal_id}': () => '/refusal/refusal_0123456789abcdef?format=json',
  '/log/checkpoint': () => '/log/checkpoint',
  '/log/tile/{level}/{path}': () => '/log/tile/0/001',
  '/log/tile/entries/{path}': () => '/log/tile/entries/001',
  '/log/proof/{task_id}': () => `/log/proof/${lost_task}`,
  '/log/inclusion': () => `/log/inclusion?task_id=${lost_task}`,
  '/log/totals': () => '/log/totals',
  '/log/payment-proof/{task_id}': () => `/log/payment-proof/${lost_task}`,
  '/v1/board/jobs/{id}': () => '/v1/board/jobs/job_0123456789abcdefghjkmnpqrs',
  '/v1/board/posts/{id}': () => '/v1/board/posts/post_0123456789abcdefghjkmnpqrs',
  '/v1/board/posts/{id}/comments': () => '/v1/board/posts/post_0123456789abcdefghjkmnpqrs/comments',
  '/.well-known/issuer-history.json': () => '/.well-known/issuer-history.json?version=4711',
};

/** Public read endpoints whose answers are in the memory of this process. */
const lasting = [
  '/.well-known/did.json',
  '/.well-known/jwks.json',
  '/log/verifier-keys',
  '/v1/models',
  '/v1/sessions/types',
];

const keptLists = ['/v1/board/posts', '/v1/board/jobs', '/v1/board/feed.atom', '/v1/board/feed.json'];

/** All free read endpoints except the one for a single model, because models belong to the hubs. */
const readByAnybody = everyDoor.filter(
  ({ kind, path, methods, effect, price, possession, board_secret, ingest_key }) =>
    kind === 'document' &&
    path !== '/v1/models/{id}' &&
    methods.includes('GET') &&
    effect === 'reads' &&
    price === null &&
    (possession === 'none' || possession === 'offered') &&
    board_secret === 'none' &&
    ingest_key === 'none',
);

const losing = everyDoor.filter(
  ({ methods, possession, board_secret, errors }) =>
    methods.includes('GET') &&
    (possession === 'none' || possession === 'offered') &&
    board_secret === 'none' &&
    errors.some(code => code === 'not_found' || code === 'job_not_found'),
);

describe('while the log is halted', () => {
  it.each(['by session', 'by nobody'] as const)(
    'a subscription that stands open %s is closed by name: 1013',
    async whose => {
      const { code, reason } = await followed[whose].closed;
      expect({ code, reason }).toEqual({ code: 1013, reason: 'The receipt log is halted' });
    },
  );

  it('an answer in events ends with `unavailable`', async () => {
    expect(streamed.status).toBe(200);
    expect(await streamed.text()).toMatch(/"code":"unavailable"[\s\S]*event: complete/);
  });

  it('a new subscription is refused, whoever asks: 1013, and 503 in events', async () => {
    for (const shown of [{ session: newest }, {}]) {
      const { code, reason } = await follow(shown, 'subscription { boardEvents { position } }').closed;
      expect({ code, reason }).toEqual({ code: 1013, reason: 'The receipt log is halted' });
    }
    const query = 'subscription { boardEvents { position } }';
    for (const shown of [undefined, { 'x-svc-session': newest }])
      expect((await post('/graphql/stream', { query }, shown)).status).toBe(503);
    expect((await get('/v1/board/events', { accept: 'text/event-stream' })).status).toBe(503);
  });

  it('whoever presents nothing at a writing endpoint is asked to pay or to show who they are, and nothing is written', async () => {
    const before = await contents();
    for (const door of writing) {
      const method = door.methods.at(-1) ?? 'POST';
      const { status } = await call(method, pathOf(door), method === 'GET' ? null : (door.example ?? {}));
      expect(withoutCredentials(door), `${method} ${door.path}: ${status}`).toContain(status);
    }
    expect(await contents()).toEqual(before);
  });

  it.each(losing.map(({ path }) => path))('GET %s: 503, never 404, for what is not found', async path => {
    const lost = lost_records[path];
    expect(lost, 'what might have been there').toBeDefined();
    expect((await get(lost?.() ?? path, { 'x-svc-approval': 'a'.repeat(43) })).status).toBe(503);
  });

  it('each read endpoint for anybody that is not of this process: 503, or 400 and 401 of what was asked, and never 404', async () => {
    const answered: string[] = [];
    for (const door of readByAnybody) {
      const asked = lost_records[door.path]?.() ?? pathOf(door);
      const { status } = await get(asked);
      if (status === 200) answered.push(door.path);
      else expect([400, 401, 503], `GET ${asked}: ${status}`).toContain(status);
    }
    expect(answered.toSorted()).toEqual(lasting);
  });

  it.each(keptLists)('GET %s: 503, also of an answer that was kept before', async path => {
    expect(await get(path)).toMatchObject({ status: 503 });
  });

  it('a receipt and the settlement of what is recorded are answered: they never change', async () => {
    const { task_id } = (await answerTo(gateway, kept)).body.svc as { task_id: string };
    expect((await get(`/receipt/${task_id}.json`)).status).toBe(200);
    expect(await get(`/task-status?task_id=${task_id}`)).toMatchObject({ status: 200, body: { status: 'completed' } });
  });

  it.each([
    ['pending', null],
    ['unverified', 'no_ingress_receipt_at_cutoff'],
  ])(
    'a receipt whose proof_outcome is %s may have changed since: 503, and so is what is said of its task',
    async (outcome, rule) => {
      const { task_id } = (await answerTo(gateway, kept)).body.svc as { task_id: string };
      const [before] = await older.database.query<Vouchable>({
        text: 'select payload, payload_hash, jws, proof_outcome, settled_by, omission_rule from receipt where task_id = $1',
        values: [task_id],
      });
      const paths = [
        `/receipt/${task_id}.json`,
        `/receipt/${task_id}/preimage`,
        `/task-status?task_id=${task_id}`,
        `/prove-result?task_id=${task_id}`,
      ];
      const statuses = () => Promise.all(paths.map(async path => (await get(path)).status));
      await store(task_id, { ...vouched(before as Vouchable), proof_outcome: outcome, omission_rule: rule });
      const heard = await statuses();
      await store(task_id, before as Vouchable);
      expect(heard).toEqual([503, 503, 503, 503]);
      expect(await statuses()).toEqual([200, 200, 200, 200]);
    },
  );

  it.each(queries.map(field => [field.name, field] as const))(
    'query %s: no null and no list that may have lost entries',
    async (name, field) => {
      const { body } = await post('/graphql', { query: operationOf('query', field, 4711) });
      const { data, errors = [] } = body as {
        data?: Record<string, unknown>;
        errors?: { extensions: { code: string; status: number } }[];
      };
      const said = { value: data?.[name] ?? null, status: errors[0]?.extensions.status ?? null };
      if (said.status !== null) expect([400, 401, 503]).toContain(said.status);
      else if (name !== 'viewer' && name !== 'model') expect(said.value, JSON.stringify(body)).not.toBeNull();
      if (said.value !== null)
        expect(['didDocument', 'jwks', 'logVerifierKeys', 'modelPage', 'models', 'sessionTypes']).toContain(name);
    },
  );

  it('a field that lasts is answered beside one that does not', async () => {
    const query = '{ models { id } lost: receipt(taskId: "task_none") { taskId } }';
    expect((await post('/graphql', { query })).body).toMatchObject({
      data: { models: expect.anything(), lost: null },
      errors: [{ path: ['lost'], extensions: { code: 'unavailable', status: 503 } }],
    });
  });

  it.each([
    ['GetTask of A2A', 'GetTask', () => ({ id: lost_task })],
    [
      'SendMessage of A2A to a task whose offer is over',
      'SendMessage',
      () => {
        const sealed = JSON.stringify({ request: { messages: [] }, lapses_ms: 0 });
        const taskId = `offer_${services.vault.seal(sealed, 'offered request').toString('base64url')}`;
        return { message: { taskId, role: 'ROLE_USER', messageId: 'a message', parts: [{ text: 'Go on' }] } };
      },
    ],
  ] as const)('%s does not say that there is none: `unavailable`', async (_, method, params) => {
    const rpc = { jsonrpc: '2.0', id: 1, method, params: params() };
    const { body } = await post('/a2a-message', rpc, { 'a2a-version': '1.0' });
    expect(body).toMatchObject({ error: { code: -32063 } });
  });

  it('a tool of MCP does not say that there is none: `unavailable`', async () => {
    const { message, headers } = modern('tools/call', { name: 'get_task_status', arguments: { task_id: lost_task } });
    const heard = await post('/mcp', message, { ...headers, accept: 'application/json, text/event-stream' });
    expect(JSON.stringify(heard.body)).toContain('unavailable');
  });

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

  it.each([
    ['an API key', '/v1/models', { 'x-api-key': 'a-live-key' }],
    ['a key that is nobody’s', '/v1/models', { authorization: 'Bearer nobody' }],
    ['a proof', () => `/v1/agents/${agent_id}/book`, { 'x-svc-proof': `sha256=${'a'.repeat(64)}` }],
    ['a slice token', '/v1/book/slice', { authorization: `Bearer slt_${'a'.repeat(43)}` }],
    ['a slice token in the query', `/v1/book/slice?token=slt_${'a'.repeat(43)}`, {}],
    ['an ingest key', '/v1/router/books/rbook_1/summary', { authorization: `Bearer rbk_${'a'.repeat(43)}` }],
    ['the secret of the board’s operators', '/v1/board/flags', { 'x-svc-board-ops': 'a secret' }],
    ['the secret of the board’s inbound endpoint', '/v1/board/flags', { 'x-svc-board-inbound': 'a secret' }],
  ] as const)('503 to whoever presents %s', async (_what, path, headers) => {
    expect((await get(typeof path === 'string' ? path : path(), headers)).status).toBe(503);
  });

  it('a mutation asks whoever presents nothing to pay or to show who they are, or is `unavailable`, and writes nothing', async () => {
    const before = await contents();
    for (const field of mutations) {
      const { body } = await post('/graphql', { query: operationOf('mutation', field, agent_id) });
      const code = (body as { errors?: { extensions?: { code?: string } }[] }).errors?.[0]?.extensions?.code;
      // Free fields without credentials are refused because of the halt.
      const codes = isPaid(field)
        ? ['payment_required', 'unauthenticated', 'invalid_request']
        : ['unauthenticated', 'unavailable'];
      expect(codes, `${field.name}: ${code}`).toContain(code);
    }
    expect(await contents()).toEqual(before);
  });

  it('a mutation whose caller was let in before the halt writes nothing, by session or by the secrets of the board', async () => {
    const graph = await openGraph(await subgraphs(), { logger: logTo([]), introspection: true });
    const held = { agent_id: agentId(steady_id), session_hash: sha256Hex(steady) };
    const principal: Principal = {
      ...nobody,
      possession: { kind: 'proven', by: 'session', ...held },
      board: { ops: 'held', inbound: 'held' },
    };
    const hash = 'a'.repeat(64);
    const named = {
      outputSha256: hash,
      jobSpecHash: hash,
      outputCommitment: `sha256:${hash}`,
      wallet: EXAMPLE_ADDRESS,
    };
    const before = await contents();
    const refused_else: string[] = [];
    for (const field of mutations.filter(it => !isPaid(it))) {
      const document = graph.parse(
        operationOf('mutation', field, steady_id, { ...named, url: 'https://hooks.invalid/' }),
      );
      const context = { ...services, ...nothingBrought, principal, response: new ResponseHeaders() };
      const { errors = [] } = await graph.execute({ document, variables: {}, context });
      expect(errors, field.name).not.toEqual([]);
      for (const { extensions } of errors) expect(extensions.status, field.name).not.toBe(404);
      if (errors[0]?.extensions.code !== 'unavailable') refused_else.push(field.name);
    }
    // Their input is refused first, because it lacks members that are required by a check and not by their type.
    expect(refused_else.toSorted()).toEqual([
      'broadcastGeneration',
      'clawBackLedgerEscrow',
      'openA2aEscrow',
      'recordCompletion',
      'releaseLedgerEscrow',
      'setAlerts',
      'setBookPolicy',
      'setBudget',
      'setRouterKey',
      'startReconciliation',
    ]);
    expect(await contents()).toEqual(before);
  });

  it('a query whose caller was let in before the halt is not told that there is nothing', async () => {
    const graph = await openGraph(await subgraphs(), { logger: logTo([]), introspection: true });
    const held = { agent_id: agentId(steady_id), session_hash: sha256Hex(steady) };
    const principal: Principal = { ...nobody, possession: { kind: 'proven', by: 'session', ...held } };
    const asked = [
      ...queries.map(field =>
        operationOf('query', field, steady_id, { escrowId: 'escrow_0123456789abcdefghjkmnpqrs' }),
      ),
      `mutation { releaseLedgerEscrow(agentId: ${steady_id}, escrow: { escrowId: "escrow_0123456789abcdefghjkmnpqrs" }) { __typename } }`,
      `{ ledgerEscrow(agentId: ${steady_id}, escrow: { escrowId: "escrow_0123456789abcdefghjkmnpqrs" }) { __typename } }`,
    ];
    for (const text of asked) {
      const context = { ...services, ...nothingBrought, principal, response: new ResponseHeaders() };
      const { data, errors = [] } = await graph.execute({ document: graph.parse(text), variables: {}, context });
      for (const { extensions } of errors) expect(extensions.status, text).not.toBe(404);
      const nulls = Object.entries(data ?? {}).filter(([name, value]) => value === null && name !== 'model');
      expect(nulls.length, text).toBeLessThanOrEqual(errors.length);
    }
  });

  it('a write that was answered before under its Idempotency-Key is not answered from there: 503', async () => {
    const before = await contents();
    expect(await named()).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(await contents()).toEqual(before);
  });

  it('503 to an API key, and 401 or 402 to whoever presents nothing', async () => {
    const ask = { model: 'test/model', messages: [{ role: 'user', content: 'Hello' }] };
    expect((await post('/v1/chat/completions', ask, { 'x-api-key': 'a-live-key' })).status).toBe(503);
    expect((await post('/v1/chat/completions', ask)).status).toBe(402);
    expect((await get(`/v1/agents/${agent_id}/book`)).status).toBe(401);
  });

  it.each([
    '/.well-known/revocations',
    '/.well-known/issuer-history.json',
    '/.well-known/receipt-policy-history.json',
    `/v1/sessions/0x${'a'.repeat(64)}`,
    '/.well-known/log-breaks.json',
    '/v1/board/endpoints/api.example.com/score',
    '/log/checkpoint',
    '/stats',
  ])('503 for %s, which may have lost entries', async path => {
    expect((await get(path)).status).toBe(503);
  });

  it('a payment shown by a stranger is answered to its payer alone, and nothing is counted: 409 payer_proof_required', async () => {
    const elsewhere = new Agent({ localAddress: '127.9.9.9' });
    atEnd(() => elsewhere.close());
    const before = await contents();
    const wrong = JSON.stringify({ ...(JSON.parse(kept.body) as JsonObject), max_tokens: 7 });
    for (const body of [wrong, kept.body]) {
      const headers = { 'content-type': 'application/json', 'x-payment': kept.payment };
      const sent = { method: 'POST', headers, body, dispatcher: elsewhere };
      const answer = await fetchBy(gateway.url + kept.path, sent);
      expect({ status: answer.status, body: await answer.json() }).toMatchObject({
        status: 409,
        body: { code: 'payer_proof_required' },
      });
    }
    expect(await contents()).toEqual(before);
  });

  it('what lasts and is of this process is served: models, keys, documents, health', async () => {
    for (const path of ['/v1/models', '/.well-known/jwks.json', '/openapi.json', '/health', '/livez'])
      expect((await get(path)).status).toBe(200);
  });
});
