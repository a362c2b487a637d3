import { beforeAll, describe, expect, it } from 'vitest';
import type { Door, DoorMethod } from '../../rest-compat/door.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { bookProof, proofWindow } from '../../subgraphs/session/possession/proof.ts';
import { boundProofHeaders } from '../harness/doors/bound-proof.ts';
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

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
/** An agent with one object of each kind. */
let agent: Agent;
let things: DoorObjects;
let other: Agent;
let stranger: Agent;
beforeAll(async () => {
  // Not the shared service, because these tests write to the board, which files that share a service expect to be empty.
  service = await openService();
  [agent, other, stranger] = [await service.newAgent(), await service.newAgent(), await service.newAgent()];
  things = await createObjects(service, agent, other);
});

/**
 * Every endpoint of a book with each of its methods, so that later ones are included. Endpoints where possession is optional
 * (record.test.ts) are left out, because they may reveal which agents exist.
 */
const shut = everyDoor
  .filter(({ possession }) => ['required', 'session', 'bound'].includes(possession))
  .flatMap(door => door.methods.map(method => [method, door.path, door] as const));
const ofBooks = shut.filter(([, path]) => path.includes('{agent_id}'));
/** Endpoints of the board. Their paths name no agent; the body names the agent to which a proof belongs. */
const ofBoard = shut.filter(([, path]) => !path.includes('{agent_id}'));

it('covers every endpoint that names an agent, and every one of the board that writes by possession', () => {
  const walked = new Set([...ofBooks, ...ofBoard].map(([, , door]) => door));
  const left = everyDoor.filter(door => !walked.has(door));
  // One is answered with a signature instead. The other one shows what a book's owner has published to everyone.
  expect(
    left
      .filter(({ path }) => path.includes('{agent_id}'))
      .map(({ name }) => name)
      .sort(),
  ).toEqual(['answer_approval', 'get_agent_record']);
  const byPossession = left.filter(door => hasMutation(door) && door.board_secret === 'none');
  expect(byPossession.filter(({ path }) => path.startsWith('/v1/board/'))).toEqual([]);
  expect([...walked].map(({ name }) => name)).toContain('get_job_output');
});

interface PossessionRequest {
  readonly headers?: Readonly<Record<string, string>>;
  /** Body of the request. Null sends none; a GET has none. */
  readonly body?: JsonObject | null;
  readonly query?: string;
}
type Ids = Readonly<Record<string, string | number>>;

/** An answer without its date and its request id. */
async function comparableAnswer(
  method: DoorMethod,
  path: string,
  ids: Ids,
  { headers = {}, body = {}, query = '' }: PossessionRequest,
) {
  const sent = method === 'GET' || body === null ? {} : { body };
  const heard = await service.knock(method, pathWith(path, ids) + query, { headers, ...sent });
  const told = Object.fromEntries([...heard.headers].filter(([name]) => !['date', 'x-request-id'].includes(name)));
  return { status: heard.status, text: heard.text, headers: told };
}

const proofOf = (session: string, id: number, away = 0) => bookProof(session, id, proofWindow(Date.now()) + away);
const sessionOf = ({ session }: Pick<Agent, 'session'>) => ({ 'X-SVC-Session': session });
/** A well-formed session that does not exist. */
const NOBODYS_SESSION = `svcs_${'A'.repeat(43)}`;

/** Requests that prove nothing: with a session or proof where none is read, and with valid bodies or without one. */
const nothing = (method: DoorMethod, door: Door): readonly PossessionRequest[] => [
  { query: `?session=${agent.session}` },
  { query: `?proof=${encodeURIComponent(proofOf(agent.session, agent.agent_id))}` },
  ...(method === 'GET' ? [] : [{ body: null }, ...bodiesOf(door, things).map(body => ({ body }))]),
];

/** Expects that a request passed the check of possession. It may be refused for another reason. */
function expectOpen(status: number): void {
  expect([401, 403, 429]).not.toContain(status);
  expect(status).toBeLessThan(500);
}

const written = () => fingerprints(service);

describe.each(ofBooks)('%s %s', (method, path, door) => {
  /** Ids of an existing agent and of one that never existed, both with the existing objects of the first. */
  const known = () => ({ ...things, agent_id: agent.agent_id });
  const unknown = () => ({ ...things, agent_id: 999_999 });
  /** Additional ids: of other existing agents, of agents that could exist, and ids that no agent can have. */
  const everyId = (): readonly Ids[] => [
    known(),
    unknown(),
    ...[other.agent_id, 2_147_483_647, 2_147_483_648, 0, -1, 'x'].map(agent_id => ({ ...things, agent_id })),
  ];
  const comparableAnswersAt = (ids: readonly Ids[], shown: PossessionRequest) =>
    Promise.all(ids.map(named => comparableAnswer(method, path, named, shown)));

  it('401, empty and alike for every id, without a credential or with one that proves nothing; nothing is written', async () => {
    const before = await written();
    // An existing agent with objects that do not belong to its book.
    const first = await comparableAnswer(method, path, { agent_id: agent.agent_id }, {});
    expect(first).toMatchObject({ status: 401, text: '', headers: { 'www-authenticate': 'SVC-Session' } });
    for (const one of await comparableAnswersAt(everyId(), {})) expect(one).toEqual(first);
    for (const shown of nothing(method, door))
      for (const one of await comparableAnswersAt([known(), unknown()], shown)) expect(one).toEqual(first);
    expect(await written()).toEqual(before);
  });

  it('403, empty and alike for every id, for every wrong credential; nothing is written', async () => {
    const before = await written();
    const { agent_id } = agent;
    const strangersProof = proofOf(stranger.session, agent_id);
    const strangersOwnProof = proofOf(stranger.session, stranger.agent_id);
    const proofOfAnother = proofOf(agent.session, other.agent_id);
    const bodies = bodiesOf(door, things);
    const inBody = (members: JsonObject): PossessionRequest => ({ body: { ...bodies[0], ...members } });
    const sends = method !== 'GET';
    const wrong: readonly PossessionRequest[] = [
      { headers: { 'X-SVC-Session': 'guess' } },
      { headers: sessionOf(stranger) },
      { headers: { 'X-SVC-Proof': strangersProof } },
      { headers: { 'X-SVC-Proof': 'sha256=guess' } },
      { headers: { ...sessionOf(stranger), 'X-SVC-Proof': strangersOwnProof } },
      ...(sends ? [inBody({ session: stranger.session }), inBody({ session: 'guess' })] : []),
      ...(sends ? [inBody({ proof: strangersProof }), inBody({ proof: 'guess' })] : []),
    ];
    const wrongAsWell: readonly PossessionRequest[] = [
      { headers: { 'X-SVC-Proof': proofOfAnother } },
      // The session of the book does not make a wrong proof valid.
      { headers: { ...sessionOf(agent), 'X-SVC-Proof': strangersOwnProof } },
      ...(sends
        ? [inBody({ session: agent.session, proof: strangersOwnProof }), inBody({ proof: proofOfAnother })]
        : []),
      ...(sends ? [null, ...bodies].map(body => ({ headers: sessionOf(stranger), body })) : []),
    ];
    const first = await comparableAnswer(method, path, { agent_id }, { headers: { 'X-SVC-Session': NOBODYS_SESSION } });
    expect(first).toMatchObject({ status: 403, text: '' });
    for (const shown of wrong)
      for (const one of await comparableAnswersAt(everyId(), shown)) expect(one).toEqual(first);
    for (const shown of wrongAsWell)
      for (const one of await comparableAnswersAt([known(), unknown()], shown)) expect(one).toEqual(first);
    expect(await written()).toEqual(before);
  });

  const inHeaders = ['X-SVC-Session', 'X-SVC-Proof'];
  const inBody = method === 'GET' ? [] : ['session', 'proof'];
  const opening = [...inHeaders, ...inBody].filter(shown => door.possession === 'required' || !/proof/i.test(shown));
  it.each(opening)('opens to %s', async shown => {
    const { agent_id, session, task_id } = await service.newAgent();
    const secret = shown.toLowerCase().endsWith('proof') ? proofOf(session, agent_id) : session;
    const member = { [shown]: secret };
    const { status } = await comparableAnswer(
      method,
      path,
      { agent_id, task_id },
      inHeaders.includes(shown) ? { headers: member } : { body: member },
    );
    expectOpen(status);
  });

  it('a proof of one agent opens the book of no other', async () => {
    const headers = { 'X-SVC-Proof': proofOf(agent.session, agent.agent_id) };
    for (const named of everyId().slice(1))
      expect(await comparableAnswer(method, path, named, { headers })).toMatchObject({ status: 403, text: '' });
  });

  if (door.possession !== 'required')
    it('403, empty, for a proof of its own agent, since a proof that was read by others would give them a secret; nothing is written', async () => {
      const before = await written();
      const { agent_id, session } = agent;
      const proof = proofOf(session, agent_id);
      for (const body of [{}, ...bodiesOf(door, things)]) {
        const bound = boundProofHeaders(session, agent_id, { method, path: pathWith(path, { ...things }), body });
        const shown: readonly PossessionRequest[] = [
          { headers: { 'X-SVC-Proof': proof }, body },
          { body: { ...body, proof } },
          ...(door.possession === 'session' ? [{ headers: bound, body }] : []),
        ];
        for (const one of shown)
          expect(await comparableAnswer(method, path, { ...things }, one)).toMatchObject({ status: 403, text: '' });
      }
      expect(await written()).toEqual(before);
    });
});

describe.each(ofBoard)('%s %s', (method, path, door) => {
  const empty = (status: number) => ({ status, text: '' });

  it('401, empty, without a credential or with a proof of nobody; nothing is written', async () => {
    const before = await written();
    const ofNobody = { headers: { 'X-SVC-Proof': proofOf(agent.session, agent.agent_id) } };
    for (const ids of [{}, { ...things }])
      for (const shown of [{}, ...nothing(method, door), ofNobody]) {
        const heard = await comparableAnswer(method, path, ids, shown);
        expect(heard).toMatchObject({ ...empty(401), headers: { 'www-authenticate': 'SVC-Session' } });
      }
    expect(await written()).toEqual(before);
  });

  it('403, empty, for a credential of nobody or of another agent; nothing is written', async () => {
    const before = await written();
    const { agent_id } = other;
    const proof = proofOf(agent.session, agent_id);
    const wrong: readonly PossessionRequest[] = [
      { headers: { 'X-SVC-Session': 'guess' } },
      { headers: { 'X-SVC-Session': NOBODYS_SESSION } },
    ];
    const [valid] = bodiesOf(door, things);
    const wrongInBody: readonly PossessionRequest[] = [
      { headers: { 'X-SVC-Session': 'guess' }, body: null },
      { headers: { 'X-SVC-Session': 'guess' }, body: { ...valid } },
      { body: { ...valid, session: 'guess' } },
      { headers: { 'X-SVC-Proof': proofOf(agent.session, agent.agent_id) }, body: { ...valid, agent_id } },
      { headers: { 'X-SVC-Proof': proof }, body: { ...valid, agent_id } },
      { body: { ...valid, agent_id, proof } },
    ];
    for (const ids of [{}, { ...things }])
      for (const shown of method === 'GET' ? wrong : [...wrong, ...wrongInBody])
        expect(await comparableAnswer(method, path, ids, shown)).toMatchObject(empty(403));
    expect(await written()).toEqual(before);
  });

  it('opens to a session, and to a proof beside the agent’s id', async () => {
    const { session, agent_id } = agent;
    // Each proof is valid for one write. If the body cannot vary, the second proof is one of the previous window.
    const right: readonly PossessionRequest[] = [
      { headers: sessionOf(agent) },
      { body: { session } },
      { headers: { 'X-SVC-Proof': proofOf(session, agent_id) }, body: { agent_id } },
      { body: { agent_id, proof: proofOf(session, agent_id, -1) } },
    ];
    for (const shown of method === 'GET' ? right.slice(0, 1) : right)
      expectOpen((await comparableAnswer(method, path, {}, shown)).status);
  });
});

/** Root fields that name an agent but do not check possession of its book. All others do. */
const openFields = ['agent', 'agentRecord', 'answerApproval'];
const fields = [
  ...queries.map(field => ['query', field.name, field] as const),
  ...mutations.map(field => ['mutation', field.name, field] as const),
]
  // Paid fields are left out, because they read their input before they check possession: an offer states what it is for.
  .filter(([, name, field]) => !isPaid(field) && !openFields.includes(name))
  .filter(([, , field]) => field.args.some(({ name }) => name === 'agentId'));

/** Root fields that return a secret. */
const secretFields = ['rotateSession', 'setWebhook', 'rotateWebhookSecret', 'createAssignment'];

describe('on /graphql', () => {
  it('covers the fields that are known to belong to a book', () => {
    const names = fields.map(([, name]) => name);
    for (const known of [
      'book',
      'policyChanges',
      'lineage',
      'a2aEscrows',
      'setBudget',
      'releaseA2aEscrow',
      'boardJobOutput',
      'pickBid',
      ...secretFields,
    ])
      expect(names).toContain(known);
  });

  /** Ids of existing objects, by the names of the arguments that take them. */
  const whatStands = () => ({
    taskId: things.task_id,
    assignmentId: things.assignment_id,
    disputeId: things.dispute_id,
    reportId: things.report_id,
    postId: things.post_id,
    jobId: things.job_id,
    wallet: things.agent_wallet,
    url: 'https://hooks.invalid/elsewhere',
  });

  it.each(fields)(
    '%s %s: unauthenticated without a credential, forbidden for a wrong one, alike for every agent; null, and nothing is written',
    async (kind, name, field) => {
      const before = await written();
      const ask = (agentId: number, headers: Readonly<Record<string, string>>) =>
        service.post('/graphql', { query: operationOf(kind, field, agentId, whatStands()) }, headers);
      for (const [headers, code, status] of [
        [{}, 'unauthenticated', 401],
        [{ 'X-SVC-Session': 'guess' }, 'forbidden', 403],
        [sessionOf(stranger), 'forbidden', 403],
      ] as const) {
        const [known, unknown] = [await ask(agent.agent_id, headers), await ask(999_999, headers)];
        expect(known.body).toMatchObject({ data: { [name]: null }, errors: [{ extensions: { code, status } }] });
        expect([unknown.status, unknown.text]).toEqual([known.status, known.text]);
      }
      expect(await written()).toEqual(before);
    },
  );

  it.each(fields.filter(([, name]) => secretFields.includes(name)))(
    '%s %s: forbidden for a proof of its own agent; nothing is written, but that the proof was used',
    async (kind, name, field) => {
      const { proof_use: _, ...before } = await written();
      const { agent_id, session } = agent;
      const body = { query: operationOf(kind, field, agent_id, whatStands()) };
      const plain = { 'X-SVC-Proof': proofOf(session, agent_id) };
      const bound = boundProofHeaders(session, agent_id, { method: 'POST', path: '/graphql', body });
      // A proof that is bound to a request is valid once and for that request only. It may open a slice, so it is left out there.
      for (const shown of name === 'createAssignment' ? [plain] : [plain, bound]) {
        const heard = await service.post('/graphql', body, { 'X-SVC-Agent': String(agent_id), ...shown });
        expect(heard.body).toMatchObject({ errors: [{ extensions: { code: 'forbidden', status: 403 } }] });
      }
      expect(await written()).toMatchObject(before);
    },
  );
});

describe('GET /v1/agents/{agent_id}/book by a proof', () => {
  it.each([
    ['of this window', 0, 200],
    ['of the window before', -1, 200],
    ['of the one before that', -2, 403],
    ['of the window to come', 1, 403],
  ])('%s: %i windows away, %i', async (_, away, status) => {
    const { agent_id, session } = agent;
    for (;;) {
      const window = proofWindow(Date.now());
      const proof = bookProof(session, agent_id, window + away);
      const heard = await service.get(`/v1/agents/${agent_id}/book`, { 'X-SVC-Proof': proof });
      // If the window has ended in between, the answer proves nothing.
      if (proofWindow(Date.now()) !== window) continue;
      expect(heard.status).toBe(status);
      return;
    }
  });
});
