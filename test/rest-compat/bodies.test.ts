import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { everyDoor } from '../../rest-compat/every-door.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import { openRestFixture, payment, type RestFixture } from '../harness/rest-compat/fake-port.ts';

let house: RestFixture;
beforeAll(async () => {
  house = await openRestFixture();
});
afterAll(() => house.close());
beforeEach(() => {
  house.port.judgement = { kind: 'proven', payer: '0xpayer', presented: null, verified: null };
});

const session = { 'x-svc-session': 'good' };
const paid = { 'payment-signature': payment };
const POLICY = '/v1/agents/7/book/policy';

/** JSON of exactly that many bytes, which is no request of any door. */
const sized = (bytes: number) => `{"x":"${'a'.repeat(bytes - 8)}"}`;

describe.each([
  [POLICY, session, limits.small_request_bytes_max],
  ['/v1/agents/7/book', session, limits.small_request_bytes_max],
  ['/v1/agents/7/book/rotate', session, limits.small_request_bytes_max],
  ['/v1/agents/register', paid, limits.small_request_bytes_max],
  ['/v1/chat/completions', paid, limits.request_bytes_max],
  ['/task-request', paid, limits.request_bytes_max],
])('a body at %s', (path, headers: Record<string, string>, bytes_max) => {
  const send = async (bytes: number) => (await house.post(path, sized(bytes), headers)).status;
  const inChunks = async (bytes: number) => {
    const body = new Blob([sized(bytes)]).stream();
    const typed = { 'content-type': 'application/json', ...headers };
    const request = { method: 'POST', headers: typed, body, duplex: 'half' } as const;
    return (await fetch(house.url + path, request)).status;
  };

  it('is read up to its door’s bound, and 413 beyond, as it says of itself or as it comes', async () => {
    for (const sent of [send, inChunks]) {
      expect([await sent(bytes_max - 1), await sent(bytes_max)]).not.toContain(413);
      expect(await sent(bytes_max + 1)).toBe(413);
    }
  });

  it('says so in OpenAPI', () => {
    const spelt = path.replace('/7/', '/{agent_id}/');
    const door = everyDoor.find(({ path: own, methods }) => own === spelt && methods.includes('POST'));
    expect(door?.body_bytes_max).toBe(bytes_max);
  });

  it('400 where its objects lie too deep in each other', async () => {
    const deep = `${'{"a":'.repeat(limits.json_depth_max)}[]${'}'.repeat(limits.json_depth_max)}`;
    const answer = await house.post(path, deep, headers);
    expect([answer.status, ((await answer.json()) as JsonObject).code]).toEqual([400, 'invalid_request']);
  });
});

describe('a payment that its header alone refuses', () => {
  it('402 in the door’s own words, and nobody is asked who sends it', async () => {
    house.port.judgement = { kind: 'rejected', reason: 'invalid_network', presented: null };
    house.port.seen.length = 0;
    const answer = await house.post('/v1/chat/completions', '{{{', { ...paid, ...session });
    expect([answer.status, ((await answer.json()) as JsonObject).error]).toEqual([402, 'invalid_network']);
    expect(house.port.seen).toEqual([]);
  });

  it('is not looked at where the body makes it unneeded', async () => {
    house.port.judgement = { kind: 'rejected', reason: 'invalid_network', presented: null };
    const free = await house.post('/v1/agents/register', { agentWallet: 'x', task_id: 'task_1' }, paid);
    expect(free.status).not.toBe(402);
    expect((await house.post('/v1/agents/register', { agentWallet: 'x' }, paid)).status).toBe(402);
  });
});
