import { expect, it } from 'vitest';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { sha256Hex } from '../../../../schema/digest.ts';
import { payingFetch, registrationOf } from '../../../harness/buyer.ts';
import { bearerOf } from '../../../harness/doors/assignments.ts';
import { startRecorder } from '../../../harness/doors/recorder.ts';
import { openRemoteGraph } from '../../../harness/graph/remote/processes.ts';

/* Books as a process of their own: what a slice token opens is read there, and the token itself is not sent there. */

it('a slice is opened, read, collected on and revoked, and what is disputed is decided, where books are a process of their own', async () => {
  const wires: Awaited<ReturnType<typeof startRecorder>>[] = [];
  const service = await openRemoteGraph({
    remote: ['book'],
    async between(url) {
      const wire = await startRecorder(url);
      wires.push(wire);
      return wire.base_url.replace(/\/$/, '');
    },
  });
  const account = await service.chain.newWallet();
  const ask = async (method: string, path: string, headers: Record<string, string>, body?: object, by = fetch) => {
    const typed = { 'content-type': 'application/json', ...headers };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await by(service.url + path, { method, headers: typed, ...sent });
    const text = await answer.text();
    return { status: answer.status, body: (text === '' ? null : JSON.parse(text)) as JsonObject };
  };
  const agent = (await ask('POST', '/v1/agents/register', {}, await registrationOf(account), payingFetch(account)))
    .body as { agent_id: number; session: string; task_id: string };
  const book = `/v1/agents/${agent.agent_id}/book`;
  const session = { 'X-SVC-Session': agent.session };

  const made = await ask('POST', `${book}/assign`, session, {
    grant_type: 'collect',
    slice: { task_ids: ['remote-1', agent.task_id] },
  });
  expect(made).toMatchObject({ status: 201, body: { token: expect.stringMatching(/^svca_/) } });
  const { token, assignment_id } = made.body as { token: string; assignment_id: string };
  // Discards the traffic so far: only the answer that brings the token may contain it, and later calls contain only its hash.
  for (const wire of wires) wire.take();
  const read = () => ask('GET', '/v1/book/slice', bearerOf(token));
  expect(await read()).toMatchObject({ status: 200, body: { entries: [{ task_id: agent.task_id }] } });
  expect(await ask('GET', `/v1/book/slice?token=${token}`, {})).toEqual(await read());
  const collect = (task_id: string) => ask('POST', `${book}/inflow`, bearerOf(token), { allocation: '5', task_id });
  expect(await collect('remote-1')).toMatchObject({
    status: 201,
    body: { inflow_claim: { recorded_by: { assignment_id } } },
  });
  expect(await collect('remote-2')).toMatchObject({ status: 403, body: { code: 'slice_exceeded', bound: 'task_ids' } });
  const query = '{ bookSlice { entries { taskId } } }';
  expect((await ask('POST', '/graphql', bearerOf(token), { query })).body).toEqual({
    data: { bookSlice: { entries: [{ taskId: 'remote-1' }, { taskId: agent.task_id }] } },
  });
  const whole = { query: `{ book(agentId: ${agent.agent_id}) { spent } }` };
  expect((await ask('POST', '/graphql', bearerOf(token), whole)).body).toMatchObject({
    errors: [{ extensions: { code: 'unauthenticated' } }],
  });

  expect((await ask('DELETE', `${book}/assign/${assignment_id}`, session)).status).toBe(200);
  expect(await read()).toMatchObject({ status: 403, body: { code: 'token_invalid' } });
  expect(await collect('remote-1')).toMatchObject({ status: 403, body: null });

  const dispute = { task_id: 'remote-1', claim_type: 'double_charge', evidence: { note: { snake_case: 1 } } };
  const filed = await ask('POST', `${book}/dispute`, session, dispute);
  expect(filed).toMatchObject({ status: 201, body: { outcome: 'stand', reason: 'nothing_charged' } });
  expect(await ask('POST', `${book}/dispute`, session, dispute)).toEqual({ status: 200, body: filed.body });

  const seen = wires.flatMap(wire => wire.take()).map(({ bytes }) => bytes);
  const told = seen.flatMap(bytes => bytes.match(/x-svc-call: [\w-]+/gi) ?? []).map(header => header.slice(12));
  const heard = [...seen, ...told.map(header => Buffer.from(header, 'base64url').toString())].join('\n');
  expect(heard).toContain(sha256Hex(token));
  expect(heard).not.toContain(token.slice('svca_'.length, -8));
});
