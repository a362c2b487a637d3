import { beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { limits } from '../../schema/limits.ts';
import type { SessionRotationNoun } from '../../schema/session/registration.ts';
import { bookProof, proofWindow } from '../../subgraphs/session/possession/proof.ts';
import { payingFetch, registrationOf } from '../harness/buyer.ts';
import { REGISTER, type RegistrationAnswer, type Service, sharedService } from '../harness/doors/open-service.ts';

type RotationAnswer = z.infer<typeof SessionRotationNoun>;

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

const book = (agent_id: number) => `/v1/agents/${agent_id}/book`;
const rotate = (agent_id: number, body: object = {}, headers: Record<string, string> = {}) =>
  service.post<RotationAnswer>(`${book(agent_id)}/rotate`, body, headers);
const proofOf = (session: string, agent_id: number) => bookProof(session, agent_id, proofWindow(Date.now()));
/** Statuses of the book for that session in each way to prove possession. */
const opens = async (agent_id: number, session: string) => {
  const proof = proofOf(session, agent_id);
  const heard = await Promise.all([
    service.get(book(agent_id), { 'X-SVC-Session': session }),
    service.get(book(agent_id), { 'X-SVC-Proof': proof }),
    service.post(book(agent_id), { session }),
    service.post(book(agent_id), { proof }),
  ]);
  return heard.map(({ status }) => status);
};

describe('POST /v1/agents/{agent_id}/book/rotate', () => {
  it.each([
    ['session in the body', (session: string) => [{ session }, {}]],
    ['X-SVC-Session', (session: string) => [{}, { 'X-SVC-Session': session }]],
    [
      'session beside a proof made with it',
      (session: string, agent_id: number) => [{ session, proof: proofOf(session, agent_id) }, {}],
    ],
  ] as [string, (session: string, agent_id: number) => [object, Record<string, string>]][])(
    '200 by %s: the new session opens the same book, the old one and its proofs open nothing',
    async (_, shown) => {
      const { agent_id, session, task_id } = await service.newAgent();
      const { status, body } = await rotate(agent_id, ...shown(session, agent_id));
      expect({ status, body }).toEqual({
        status: 200,
        body: {
          agent_id,
          session: expect.stringMatching(/^svcs_[A-Za-z0-9_-]{43}$/),
          rotated_at: expect.any(String),
        },
      });
      expect(body.session).not.toBe(session);
      expect(await opens(agent_id, session)).toEqual([403, 403, 403, 403]);
      expect(await opens(agent_id, body.session)).toEqual([200, 200, 200, 200]);
      const { entries } = (await service.get<{ entries: unknown[] }>(book(agent_id), { 'X-SVC-Session': body.session }))
        .body;
      expect(entries).toEqual([expect.objectContaining({ task_id })]);
    },
  );

  it('200 to one of many at once by the same session: what it was given lives', async () => {
    const { agent_id, session } = await service.newAgent();
    const heard = await Promise.all(Array.from({ length: 8 }, () => rotate(agent_id, { session })));
    expect(heard.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 403)]);
    const rotated = heard.find(({ status }) => status === 200);
    expect(await opens(agent_id, rotated?.body.session ?? '')).toEqual([200, 200, 200, 200]);
  });

  it('405 on GET, 413 on a body too large, 415 on another type: nothing is rotated', async () => {
    const { agent_id, session } = await service.newAgent();
    const path = `${book(agent_id)}/rotate`;
    const shown = { 'X-SVC-Session': session };
    const heard = await service.knock('GET', path, { headers: shown });
    expect({ status: heard.status, allow: heard.headers.get('allow') }).toEqual({ status: 405, allow: 'POST' });
    expect((await service.post(path, { filler: 'x'.repeat(limits.request_bytes_max) }, shown)).status).toBe(413);
    expect((await service.post(path, 'a=b', { ...shown, 'content-type': 'text/plain' })).status).toBe(415);
    expect(await opens(agent_id, session)).toEqual([200, 200, 200, 200]);
  });
});

describe('a session that was rotated away', () => {
  it('is not handed out again by the payment that bought it: 410', async () => {
    const account = await service.chain.newWallet();
    const body = await registrationOf(account);
    const payment = await service.payment(account, REGISTER);
    const { agent_id, session } = (await service.post<RegistrationAnswer>(REGISTER, body, payment)).body;
    await rotate(agent_id, { session });
    const again = await service.post(REGISTER, body, payment);
    expect({ status: again.status, code: again.body.code }).toEqual({ status: 410, code: 'answer_gone' });
  });

  it('rotates nothing; the wallet recovers all the same', async () => {
    const { account, agent_id, session, task_id } = await service.newAgent();
    const rotated = (await rotate(agent_id, { session })).body;
    expect((await rotate(agent_id, { session })).status).toBe(403);
    const recovered = await service.post<RegistrationAnswer>(REGISTER, await registrationOf(account, { task_id }));
    expect(recovered).toMatchObject({ status: 200, body: { agent_id, idempotent_replay: true } });
    expect(await opens(agent_id, rotated.session)).toEqual([403, 403, 403, 403]);
    expect(await opens(agent_id, recovered.body.session)).toEqual([200, 200, 200, 200]);
  });

  it('takes no paid call on its book: 403 before any charge', async () => {
    const { account, agent_id, session } = await service.newAgent();
    await rotate(agent_id, { session });
    const refused = await service.knock('POST', '/v1/chat/completions', {
      body: { messages: [{ role: 'user', content: 'Whose book?' }] },
      headers: { 'X-SVC-Session': session },
      by: payingFetch(account),
    });
    expect({ status: refused.status, text: refused.text }).toEqual({ status: 403, text: '' });
    expect(await service.transfersFrom(account)).toHaveLength(1);
  });
});

describe('mutation rotateSession', () => {
  const rotation = (agentId: number) => ({
    query: 'mutation ($agentId: Int!) { rotateSession(agentId: $agentId) { agentId session rotatedAt } }',
    variables: { agentId },
  });
  const ask = (agentId: number, headers: Record<string, string> = {}) =>
    service.post('/graphql', rotation(agentId), headers);

  it('rotates for whoever possesses the book', async () => {
    const { agent_id, session } = await service.newAgent();
    const { body } = await ask(agent_id, { 'X-SVC-Session': session });
    const { rotateSession } = body.data as { rotateSession: { agentId: number; session: string } };
    expect(rotateSession).toEqual({
      agentId: agent_id,
      session: expect.stringMatching(/^svcs_/),
      rotatedAt: expect.any(String),
    });
    expect(await opens(agent_id, session)).toEqual([403, 403, 403, 403]);
    expect(await opens(agent_id, rotateSession.session)).toEqual([200, 200, 200, 200]);
  });
});
