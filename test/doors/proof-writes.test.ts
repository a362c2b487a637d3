import { beforeAll, describe, expect, it } from 'vitest';
import { bookProof, proofWindow } from '../../subgraphs/session/possession/proof.ts';
import { boundProofHeaders } from '../harness/doors/bound-proof.ts';
import { openService, type RegistrationAnswer, type Service } from '../harness/doors/open-service.ts';
import { openSocket } from '../harness/doors/socket.ts';

let service: Service;
let agent: RegistrationAnswer;
let plain: string;
beforeAll(async () => {
  service = await openService({ PROOF_WRITES: 'bound' });
  agent = await service.newAgent();
  plain = bookProof(agent.session, agent.agent_id, proofWindow(Date.now()));
});

const refused = { status: 403, text: '' };

describe('PROOF_WRITES=bound', () => {
  it('403, empty, to a write by a plain proof; a read by it is 200, and so is a write by a bound one or a session', async () => {
    const path = `/v1/agents/${agent.agent_id}/book`;
    const body = { budget: '5' };
    for (const [at, written] of [
      [path, body],
      [`${path}/policy`, { policy_type: 'daily_cap', value: '5' }],
    ] as const) {
      expect(await service.post(at, { ...written, proof: plain })).toMatchObject(refused);
      const bound = boundProofHeaders(agent.session, agent.agent_id, { method: 'POST', path: at, body: written });
      expect((await service.post(at, written, bound)).status).toBe(200);
      expect((await service.post(at, written, { 'X-SVC-Session': agent.session })).status).toBe(200);
      expect((await service.get(at, { 'X-SVC-Proof': plain })).status).toBe(200);
    }
    expect((await service.post(path, { limit: 3, proof: plain })).status).toBe(200);
  });

  it('forbidden to a mutation by a plain proof, on /graphql and on a socket; also to one that is sold', async () => {
    const { agent_id } = agent;
    const headers = { 'X-SVC-Agent': String(agent_id), 'X-SVC-Proof': plain };
    const mutation = `mutation { setBudget(agentId: ${agent_id}, budgetAtomic: "6") { agentId } }`;
    const sold = 'mutation { createChatCompletion(input: { messages: [{ role: "user", content: "Hi" }] }) { id } }';
    const forbidden = { errors: [{ extensions: { code: 'forbidden' } }] };
    for (const query of [mutation, sold])
      expect((await service.post('/graphql', { query }, headers)).body).toMatchObject(forbidden);
    expect(
      (await service.post('/graphql', { query: `{ book(agentId: ${agent_id}) { cap } }` }, headers)).body,
    ).toHaveProperty('data.book');
    const socket = openSocket(service, { agent_id, proof: plain });
    await expect(socket.first(mutation)).rejects.toMatchObject([{ extensions: { code: 'forbidden' } }]);
    expect(await socket.first(`{ book(agentId: ${agent_id}) { cap } }`)).toHaveProperty('data.book');
  });
});
