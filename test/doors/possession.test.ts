import { beforeAll, describe, expect, it } from 'vitest';
import type { DoorMethod } from '../../rest-compat/door.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import { bookProof, proofWindow } from '../../subgraphs/session/possession/proof.ts';
import { type Registered, type Service, sharedService } from '../harness/doors/open-service.ts';

let service: Service;
let agent: Registered;
let other: Registered;
beforeAll(async () => {
  service = await sharedService();
  [agent, other] = [await service.newAgent(), await service.newAgent()];
});

/**
 * Every door of a book, by each of its methods: those to come are tested with these. Where possession is only offered
 * (record.test.ts), anybody may know which agents there are.
 */
const shut = everyDoor
  .filter(({ possession }) => ['required', 'session', 'bound'].includes(possession))
  .flatMap(({ path, methods, possession }) => methods.map(method => [method, path, possession] as const));
const knocks = shut.filter(([, path]) => path.includes('{agent_id}'));
/** Whoever writes on the board is named in the body, where a proof is shown. */
const writing = shut.filter(([method, path]) => method !== 'GET' && path.startsWith('/v1/board/'));

type Shown = readonly [headers: Readonly<Record<string, string>>, body: Readonly<Record<string, string>>];

/** All that an answer says, but for its date and its number. */
async function said(method: DoorMethod, path: string, id: string, [headers, body]: Shown, task_id = 'any') {
  const filled = path
    .replace('{agent_id}', id)
    .replace('{task_id}', task_id)
    .replace(/\{\w+\}/g, 'any');
  const heard = await service.knock(method, filled, { headers, ...(method === 'GET' ? {} : { body }) });
  const told = Object.fromEntries([...heard.headers].filter(([name]) => !['date', 'x-request-id'].includes(name)));
  return { status: heard.status, text: heard.text, headers: told };
}

const proofOf = (session: string, id: number, away = 0) => bookProof(session, id, proofWindow(Date.now()) + away);

describe.each(knocks)('%s %s', (method, path, possession) => {
  /** Agents that are there, that never were, and what can be no agent's id. */
  const ids = () => [
    String(agent.agent_id),
    String(other.agent_id),
    '999999',
    '2147483647',
    '2147483648',
    '0',
    '-1',
    'x',
  ];
  const headers = { 'X-SVC-Session': `svcs_${'A'.repeat(43)}` };

  it('401, empty and alike for every id, where nothing is shown', async () => {
    const [first, ...rest] = await Promise.all(ids().map(id => said(method, path, id, [{}, {}])));
    expect(first).toMatchObject({ status: 401, text: '', headers: { 'www-authenticate': 'SVC-Session' } });
    for (const one of rest) expect(one).toEqual(first);
  });

  it('403, empty and alike for every id and for whatever is wrong', async () => {
    const stranger = await service.newAgent();
    const wrong: readonly Shown[] = [
      [headers, {}],
      [{ 'X-SVC-Session': 'guess' }, {}],
      [{ 'X-SVC-Session': stranger.session }, {}],
      [{ 'X-SVC-Proof': proofOf(stranger.session, agent.agent_id) }, {}],
      [{ 'X-SVC-Proof': 'sha256=guess' }, {}],
      [{ 'X-SVC-Session': stranger.session, 'X-SVC-Proof': proofOf(stranger.session, stranger.agent_id) }, {}],
      ...(method === 'GET'
        ? []
        : ([
            [{}, { session: stranger.session }],
            [{}, { session: 'guess' }],
            [{}, { proof: proofOf(stranger.session, agent.agent_id) }],
            [{}, { proof: 'guess' }],
          ] as const)),
    ];
    const first = await said(method, path, String(agent.agent_id), [headers, {}]);
    expect(first).toMatchObject({ status: 403, text: '' });
    for (const shown of wrong) {
      const heard = await Promise.all(ids().map(id => said(method, path, id, shown)));
      for (const one of heard) expect(one).toEqual(first);
    }
  });

  const inHeaders = ['X-SVC-Session', 'X-SVC-Proof'];
  const inBody = method === 'GET' ? [] : ['session', 'proof'];
  const opening = [...inHeaders, ...inBody].filter(shown => possession === 'required' || !/proof/i.test(shown));
  it.each(opening)('opens to %s', async shown => {
    const { agent_id, session, task_id } = await service.newAgent();
    const secret = shown.toLowerCase().endsWith('proof') ? proofOf(session, agent_id) : session;
    const member = { [shown]: secret };
    const { status } = await said(
      method,
      path,
      String(agent_id),
      inHeaders.includes(shown) ? [member, {}] : [{}, member],
      task_id,
    );
    expect([401, 403]).not.toContain(status);
  });

  it('a proof is made for one agent: it opens no other, and none for whoever shows it elsewhere', async () => {
    for (const id of ids().slice(1)) {
      const shown: Shown = [{ 'X-SVC-Proof': proofOf(agent.session, agent.agent_id) }, {}];
      expect(await said(method, path, id, shown)).toMatchObject({ status: 403, text: '' });
    }
  });
});

describe.each(writing)('%s %s', (method, path) => {
  const asked = async ([headers, body]: readonly [Record<string, string>, Record<string, string | number>]) => {
    const filled = path.replace(/\{\w+\}/g, 'any');
    const { status, text } = await service.knock(method, filled, { headers, body });
    return { status, text };
  };

  it('401, empty, where nothing is shown, or a proof of nobody', async () => {
    const shown: readonly Record<string, string>[] = [{}, { 'X-SVC-Proof': proofOf(agent.session, agent.agent_id) }];
    for (const headers of shown) expect(await asked([headers, {}])).toEqual({ status: 401, text: '' });
  });

  it('403, empty, where what is shown is nobody’s, or another’s', async () => {
    const { agent_id } = other;
    for (const shown of [
      [{ 'X-SVC-Session': 'guess' }, {}],
      [{}, { session: 'guess' }],
      [{ 'X-SVC-Proof': proofOf(agent.session, agent.agent_id) }, { agent_id }],
      [{ 'X-SVC-Proof': proofOf(agent.session, agent_id) }, { agent_id }],
      [{}, { agent_id, proof: proofOf(agent.session, agent_id) }],
    ] as const)
      expect(await asked(shown)).toEqual({ status: 403, text: '' });
  });

  it('opens to a session, and to a proof whose agent is named', async () => {
    const { session, agent_id } = agent;
    // Each serves one write: where nothing else could be said, the proof of the window before is another.
    for (const shown of [
      [{ 'X-SVC-Session': session }, {}],
      [{}, { session }],
      [{ 'X-SVC-Proof': proofOf(session, agent_id) }, { agent_id }],
      [{}, { agent_id, proof: proofOf(session, agent_id, -1) }],
    ] as const)
      expect([401, 403]).not.toContain((await asked(shown)).status);
  });
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
      // A window that ended meanwhile says nothing.
      if (proofWindow(Date.now()) !== window) continue;
      expect(heard.status).toBe(status);
      return;
    }
  });
});
