import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { bearerOf } from '../harness/doors/assignments.ts';
import { type Ground, openGround } from '../harness/faults/ground.ts';
import { type Agent, newAgent, startGateways } from '../harness/gateways/trio.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/* Two processes on one Postgres: what one of them revokes opens nothing at the other. */

let ground: Ground;
let gateways: readonly RunningService[];
let agent: Agent;
const at = (index: number) => gateways[index] as RunningService;
beforeAll(async () => {
  ground = await openGround();
  gateways = await startGateways(ground, 2);
  agent = await newAgent(ground, at(0));
});

const assign = () => `/v1/agents/${agent.agent_id}/book/assign`;

async function ask(
  gateway: RunningService,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: unknown,
) {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const typed = body === undefined ? {} : { 'content-type': 'application/json' };
  const answer = await fetch(gateway.url + path, { method, headers: { ...typed, ...headers }, ...sent });
  const text = await answer.text();
  return { status: answer.status, body: (text === '' ? null : JSON.parse(text)) as JsonObject };
}

const session = () => ({ 'X-SVC-Session': agent.session });
const made = async (body: JsonObject = {}) =>
  (await ask(at(0), 'POST', assign(), session(), body)).body as { assignment_id: string; token: string };
const read = (gateway: RunningService, token: string) => ask(gateway, 'GET', '/v1/book/slice', bearerOf(token));

describe('a slice token that was given at one process', () => {
  it('opens the slice at the other, and nothing there from the moment on at which the first has revoked it', async () => {
    const { assignment_id, token } = await made();
    // Asked again and again, as by a reader who comes back: nothing of it is remembered.
    for (let times = 0; times < 3; times++) expect((await read(at(1), token)).status).toBe(200);
    expect((await ask(at(0), 'DELETE', `${assign()}/${assignment_id}`, session())).status).toBe(200);
    expect(await read(at(1), token)).toMatchObject({ status: 403, body: { code: 'token_invalid' } });
    expect((await read(at(0), token)).status).toBe(403);
  });

  it('records nothing at the other once it is revoked, however the two fall together', async () => {
    for (let round = 0; round < 5; round++) {
      const { assignment_id, token } = await made({ grant_type: 'collect' });
      const inflow = `/v1/agents/${agent.agent_id}/book/inflow`;
      const write = () => ask(at(1), 'POST', inflow, bearerOf(token), { allocation: '1' });
      const [revoked, ...written] = await Promise.all([
        ask(at(0), 'DELETE', `${assign()}/${assignment_id}`, session()),
        ...Array.from({ length: 4 }, write),
      ]);
      expect(revoked?.status).toBe(200);
      expect((await write()).status).toBe(403);
      // What was answered with a row was committed before it was revoked, which waited for it.
      const recorded = written.filter(({ status }) => status === 201).length;
      const [found] = await ground.database.query<{ count: number }>({
        text: `select count(*)::int as count from book_row r join slice_assignment a using (agent_id)
          where a.assignment_id = $1 and r.facts->'inflow_claim'->'recorded_by'->>'assignment_id' = $1`,
        values: [assignment_id],
      });
      expect(found?.count).toBe(recorded);
      expect(written.every(({ status }) => status === 201 || status === 403)).toBe(true);
    }
  });
});
