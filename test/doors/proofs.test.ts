import { beforeAll, describe, expect, it } from 'vitest';
import type { DoorMethod } from '../../rest-compat/door.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import type { ProvenRequest } from '../../schema/proof.ts';
import { bookProof, proofWindow } from '../../subgraphs/session/possession/proof.ts';
import { boundProofHeaders, newNonce } from '../harness/doors/bound-proof.ts';
import { type RegistrationAnswer, type Service, sharedService } from '../harness/doors/open-service.ts';
import { acceptedStatuses, bodiesByDoor, changedBodies, INFLOW } from '../harness/doors/proof-bodies.ts';
import { openSocket } from '../harness/doors/socket.ts';

let service: Service;
let agent: RegistrationAnswer & {
  readonly assignment_id?: string;
  readonly dispute_id?: string;
  readonly escrow_id?: string;
  readonly report_id?: string;
};
/** The other party of the escrow that the test opens. */
let counterparty_agent_id: number;
beforeAll(async () => {
  service = await sharedService();
  agent = await service.newAgent();
  const inflow = { allocation: '5', task_id: INFLOW };
  const session = { 'X-SVC-Session': agent.session };
  await service.post(`${book(agent)}/inflow`, inflow, session);
  agent = { ...agent, ...(await service.post(`${book(agent)}/assign`, {}, session)).body };
  const escrow = { action: 'open', task_id: agent.task_id };
  const { body } = await service.post<{ escrow_id: string }>(`${book(agent)}/escrow`, escrow, session);
  const { escrow_id } = body;
  const dispute = { task_id: INFLOW, claim_type: 'output_missing' };
  agent = { ...agent, ...(await service.post(`${book(agent)}/dispute`, dispute, session)).body, escrow_id };
  const blocks = { wallet: agent.agentWallet, from_block: 0, to_block: 0 };
  agent = { ...agent, ...(await service.post(`${book(agent)}/reconciliation`, blocks, session)).body };
  counterparty_agent_id = (await service.newAgent()).agent_id;
});

const plainOf = ({ agent_id, session }: RegistrationAnswer, away = 0, window = proofWindow(Date.now())) =>
  bookProof(session, agent_id, window + away);
const boundOf = ({ agent_id, session }: RegistrationAnswer, request: ProvenRequest, nonce?: string) =>
  boundProofHeaders(session, agent_id, request, nonce);
const book = ({ agent_id }: RegistrationAnswer) => `/v1/agents/${agent_id}/book`;
const shows = (proof: string) => ({ 'X-SVC-Proof': proof });
const send = ({ method, path, body }: ProvenRequest, headers: Record<string, string>) =>
  service.knock(method, path, { headers, ...(method === 'GET' ? {} : { body }) });
const refused = { status: 403, text: '' };

const knocks = everyDoor
  .filter(({ possession }) => possession === 'required')
  .flatMap(({ name, path, methods }) =>
    methods.flatMap(method =>
      (bodiesByDoor[`${method} ${name}`] ?? [null]).map(body => {
        const another = changedBodies[name] ?? null;
        return { name, method, path, body, another, writes: writes(name, method, body) };
      }),
    ),
  );

function writes(name: string, method: DoorMethod, body: JsonObject | null): boolean {
  const reads = [
    'export_book',
    'stream_book_export',
    'stream_book_journal',
    'simulate_book_policy',
    'ledger_escrow',
  ].includes(name);
  return method !== 'GET' && !reads && (body === null || !('limit' in body));
}

/** Requests that create what an endpoint needs to succeed. */
const prepared: readonly { beneath: string; by: readonly [method: DoorMethod, door: string, members: JsonObject] }[] = [
  { beneath: '/publish', by: ['POST', '/export/publish', {}] },
  { beneath: '/webhook/', by: ['PUT', '/webhook', { url: 'https://hooks.invalid/' }] },
];

describe.each(knocks)('$method $path with $body', ({ name, method, path, body, another, writes }) => {
  const request = (members: JsonObject = {}): ProvenRequest => {
    if (body === null) throw new Error(`${method} ${path} has no body here`);
    const fill = (text: string) => text.replace(/\{(\w+)\}/g, (_, name) => String(agent[name as keyof typeof agent]));
    const { agent_id } = agent;
    const numbers: Readonly<Record<string, number>> = { agent_id, counterparty_agent_id };
    const filled = JSON.parse(
      JSON.stringify(body),
      (key, value) => numbers[key] ?? (typeof value === 'string' ? fill(value) : value),
    );
    return { method, path: fill(path), body: { ...filled, ...members } };
  };
  const before = prepared.find(({ beneath }) => path.includes(beneath));
  beforeAll(async () => {
    if (!before) return;
    const [sent, door, members] = before.by;
    const headers = { 'X-SVC-Session': agent.session };
    expect((await service.knock(sent, book(agent) + door, { headers, body: members })).status).toBe(200);
  });
  const good = acceptedStatuses[`${method} ${name}`] ?? acceptedStatuses[method] ?? [200];
  /** A request that was not sent before. */
  const fresh = () => request(method === 'GET' ? {} : (another?.(newNonce(), body ?? {}) ?? {}));

  it(`a plain proof: 200, the same again ${writes ? '403, empty, and with another body once more 200' : '200'}`, async () => {
    const [one, other] = [fresh(), fresh()];
    const window = proofWindow(Date.now());
    const plain = plainOf(agent, 0, window);
    const proof = shows(plain);
    expect(good).toContain((await send(one, proof)).status);
    expect(await send(one, proof)).toMatchObject(writes ? refused : { status: 200 });
    expect(await send({ ...one, body: { proof: plain, ...one.body } }, {})).toMatchObject(
      method === 'GET' ? { status: 401 } : writes ? refused : { status: 200 },
    );
    // If the body has no member that could vary, no second write is possible.
    if (!writes || another !== null) expect(good).toContain((await send(other, proof)).status);
    // A proof of the next or previous window is a different proof, which is also valid once. The next window may have begun by now.
    const before = shows(plainOf(agent, proofWindow(Date.now()) === window ? -1 : 1, window));
    expect(good).toContain((await send(one, before)).status);
    expect(await send(one, before)).toMatchObject(writes ? refused : { status: 200 });
  });

  it('a bound proof: 200, its nonce again 403, empty, whatever it comes with', async () => {
    const [one, other] = [fresh(), fresh()];
    const nonce = newNonce();
    expect(good).toContain((await send(one, boundOf(agent, one, nonce))).status);
    for (const again of [one, other]) expect(await send(again, boundOf(agent, again, nonce))).toMatchObject(refused);
    expect(good).toContain((await send(one, boundOf(agent, one))).status);
  });

  it('a bound proof of another method, path, body or nonce, or none: 403, empty, and it is good still', async () => {
    const one = fresh();
    const nonce = newNonce();
    for (const made of [
      { ...one, method: method === 'GET' ? 'POST' : 'GET' },
      { ...one, path: `${one.path}/more` },
      { ...one, path: `${one.path}?limit=1` },
      { ...one, body: { ...one.body, more: true } },
    ])
      expect(await send(one, boundOf(agent, made, nonce))).toMatchObject(refused);
    const right = boundOf(agent, one, nonce);
    for (const other of [newNonce(), 'short', `${nonce}.`, ''])
      expect(await send(one, { ...right, 'X-SVC-Nonce': other })).toMatchObject(refused);
    expect(await send(one, shows(right['X-SVC-Proof']))).toMatchObject(refused);
    expect(good).toContain((await send(one, right)).status);
  });
});

describe('a write by proof', () => {
  it('200 to one of twenty at once with the same plain proof, 403 to the others', async () => {
    const request = { method: 'POST', path: `${book(agent)}/policy`, body: { policy_type: 'hourly_cap', value: '5' } };
    const heard = await Promise.all(Array.from({ length: 20 }, () => send(request, shows(plainOf(agent)))));
    expect(heard.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 403)]);
  });

  it('is one write however its path is spelt and its body is written', async () => {
    const body = { policy_type: 'hourly_cap', value: '6', mode: 'enforce' };
    const proof = shows(plainOf(agent));
    expect((await service.post(`${book(agent)}/policy`, body, proof)).status).toBe(200);
    const spelt = [`${book(agent)}/policy/`, `${book(agent).replace('agents', '%61gents')}/policy`];
    for (const path of spelt) expect(await service.post(path, body, proof)).toMatchObject(refused);
    const written = '{"mode":"\\u0065nforce",\n"value":"\\u0036", "policy_type":"hourly_cap"}';
    expect(await service.post(`${book(agent)}/policy`, written, proof)).toMatchObject(refused);
  });

  it('that its door refuses as no request uses nothing', async () => {
    const proof = shows(plainOf(agent));
    const body = { budget: 'not digits' };
    for (const _ of ['once', 'again']) expect((await service.post(book(agent), body, proof)).status).toBe(400);
  });

  it('with a body that has no canonical form: 400, and the proof is good still', async () => {
    const proof = shows(plainOf(agent));
    const unpaired = await service.post(`${book(agent)}/inflow`, '{"allocation":"7","task_id":"\\ud800"}', proof);
    expect(unpaired).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect((await service.post(`${book(agent)}/inflow`, { allocation: '7' }, proof)).status).toBe(201);
  });

  it('leaves a row where the proof is right, and nowhere else', async () => {
    const other = await service.newAgent();
    const rows = async () => (await service.query('select 1 from proof_use')).length;
    const before = await rows();
    const request = { method: 'POST', path: book(agent), body: { budget: '8' } };
    for (const shown of [
      shows(`sha256=${'0'.repeat(64)}`),
      shows(plainOf(other)),
      boundOf(other, request),
      boundOf(agent, { ...request, method: 'PUT' }),
    ])
      expect(await send(request, shown)).toMatchObject(refused);
    expect(await rows()).toBe(before);
    expect((await send(request, boundOf(agent, request))).status).toBe(200);
    expect(await rows()).toBe(before + 1);
  });
});

const setBudget = ({ agent_id }: RegistrationAnswer, budgetAtomic: string) => ({
  query: `mutation { setBudget(agentId: ${agent_id}, budgetAtomic: "${budgetAtomic}") { agentId } }`,
});
const readBook = ({ agent_id }: RegistrationAnswer) => ({ query: `{ book(agentId: ${agent_id}) { agentId } }` });
const forbidden = { body: { errors: [{ extensions: { code: 'forbidden', status: 403 } }] } };

describe('/graphql by X-SVC-Agent and X-SVC-Proof', () => {
  const ask = (body: JsonObject, headers: Record<string, string>) =>
    service.post('/graphql', body, { 'X-SVC-Agent': String(agent.agent_id), ...headers });
  const request = (body: JsonObject) => ({ method: 'POST', path: '/graphql', body });

  it('plain: a query as often as one likes, a mutation once', async () => {
    const proof = shows(plainOf(agent));
    for (const _ of ['once', 'again'])
      expect((await ask(readBook(agent), proof)).body).toEqual({ data: { book: { agentId: agent.agent_id } } });
    const data = { setBudget: { agentId: agent.agent_id } };
    expect((await ask(setBudget(agent, '11'), proof)).body).toEqual({ data });
    expect(await ask(setBudget(agent, '11'), proof)).toMatchObject(forbidden);
    expect((await ask(setBudget(agent, '12'), proof)).body).toEqual({ data });
  });

  it('bound: either once, for that body alone', async () => {
    for (const body of [readBook(agent), setBudget(agent, '13')]) {
      const shown = boundOf(agent, request(body));
      expect(await ask({ ...body, variables: {} }, shown)).toMatchObject(forbidden);
      expect((await ask(body, shown)).body).not.toHaveProperty('errors');
      expect(await ask(body, shown)).toMatchObject(forbidden);
    }
  });

  it('a purchase: the 402 takes no nonce, and the same payment brings its answer again', async () => {
    const buyer = await service.newAgent();
    const body = {
      query: 'mutation { createChatCompletion(input: { messages: [{ role: "user", content: "Hi" }] }) { svc } }',
    };
    const named = { 'X-SVC-Agent': String(buyer.agent_id) };
    const pay = () => service.payment(buyer.account, '/v1/chat/completions');
    const bound = { ...named, ...boundOf(buyer, request(body)) };
    expect((await service.post('/graphql', body, bound)).status).toBe(402);
    expect((await service.post('/graphql', body, { ...bound, ...(await pay()) })).body).not.toHaveProperty('errors');
    expect(await service.post('/graphql', body, { ...bound, ...(await pay()) })).toMatchObject(forbidden);

    const plain = { ...named, ...shows(plainOf(buyer)), ...(await pay()) };
    const [first, again] = [await service.post('/graphql', body, plain), await service.post('/graphql', body, plain)];
    expect(first.headers.get('x-svc-settlement-status')).toBe('settled');
    expect(again.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
    expect(await service.transfersFrom(buyer.account)).toHaveLength(3);
  });

  it('of another agent, or of none: forbidden', async () => {
    const other = await service.newAgent();
    const proof = shows(plainOf(agent));
    for (const named of [String(other.agent_id), '0', 'x', ''])
      expect(await ask(readBook(agent), { ...proof, 'X-SVC-Agent': named })).toMatchObject(forbidden);
  });
});

describe('a socket by {agent_id, proof, nonce}', () => {
  const { method, path } = { method: 'GET', path: '/graphql' };
  const plain = (away = 0) => ({ agent_id: agent.agent_id, proof: plainOf(agent, away) });
  const bound = (nonce = newNonce()) => {
    const body = { agent_id: agent.agent_id, nonce };
    return { ...body, proof: boundOf(agent, { method, path, body }, nonce)['X-SVC-Proof'] };
  };

  it('plain: reads, and writes each mutation once, by HTTP and by sockets together', async () => {
    const socket = openSocket(service, plain());
    for (const _ of ['once', 'again']) expect(await socket.first(readBook(agent).query)).toHaveProperty('data.book');
    const mutation = setBudget(agent, '21');
    expect(await socket.first(mutation.query)).toHaveProperty('data.setBudget');
    await expect(socket.first(mutation.query)).rejects.toMatchObject([{ extensions: { code: 'forbidden' } }]);
    const byHttp = { 'X-SVC-Agent': String(agent.agent_id), ...shows(plainOf(agent)) };
    expect(await service.post('/graphql', mutation, byHttp)).toMatchObject(forbidden);
    const another = openSocket(service, plain());
    await expect(another.first(mutation.query)).rejects.toMatchObject([{ extensions: { code: 'forbidden' } }]);
    expect(await another.first(setBudget(agent, '22').query)).toHaveProperty('data.setBudget');
  });

  it('bound: opens one socket, which reads and writes', async () => {
    const shown = bound();
    const socket = openSocket(service, shown, { lazy: false });
    for (const { query } of [readBook(agent), setBudget(agent, '23'), setBudget(agent, '23')])
      expect(await socket.first(query)).toHaveProperty('data');
    await expect(openSocket(service, shown).first(readBook(agent).query)).rejects.toMatchObject({ code: 4403 });
    const altered = { ...bound(), more: true };
    await expect(openSocket(service, altered).first(readBook(agent).query)).rejects.toMatchObject({ code: 4403 });
  });

  it('rotates nothing, and ends with the session that it rests on', async () => {
    const own = await service.newAgent();
    const body = { agent_id: own.agent_id, nonce: newNonce() };
    const boundly = { ...body, proof: boundOf(own, { method, path, body }, body.nonce)['X-SVC-Proof'] };
    const plainly = { agent_id: own.agent_id, proof: plainOf(own) };
    const sockets = [boundly, plainly].map(shown => openSocket(service, shown, { lazy: false }));
    const rotation = `mutation { rotateSession(agentId: ${own.agent_id}) { session } }`;
    for (const socket of sockets) {
      await expect(socket.first(rotation)).rejects.toMatchObject([{ extensions: { code: 'forbidden' } }]);
      expect(await socket.first(readBook(own).query)).toHaveProperty('data.book');
    }
    await service.post(`${book(own)}/rotate`, { session: own.session });
    for (const socket of sockets) await expect(socket.first(readBook(own).query)).rejects.toMatchObject({ code: 4403 });
  });

  it.each([-2, 1])('of a window %i away: 4403', async away => {
    await expect(openSocket(service, plain(away)).first(readBook(agent).query)).rejects.toMatchObject({ code: 4403 });
  });
});
