import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fail, openRestFixture, payment, type RestFixture, succeed } from '../harness/rest-compat/fake-port.ts';

/* Which rate each request counts against: by the doors alone, with the state of each rate set by the test. */

let house: RestFixture;
beforeAll(async () => {
  house = await openRestFixture();
});
afterAll(() => house.close());
beforeEach(() => {
  Object.assign(house.port, { beyond: [], crowded: false, held: 0 });
  house.port.taken.length = 0;
  house.port.judgement = { kind: 'proven', payer: '0xpayer', presented: null, verified: null };
  succeed(house.port, { answer: { agent_id: 7, entries: [] } });
});

const CHAT = '/v1/chat/completions';
const paid = { 'payment-signature': payment };
const chat = { messages: [{ role: 'user', content: 'Hi' }] };

describe('a free door', () => {
  it('says with each answer how often it may still be asked', async () => {
    const response = await house.get('/v1/agents/7/book', { 'x-svc-session': 'good' });
    expect([response.status, response.headers.get('ratelimit')]).toEqual([200, '"free";r=1;t=7']);
    expect(house.port.taken).toEqual(['free']);
  });

  it('429 beyond that, with Retry-After, and nobody is asked anything', async () => {
    house.port.beyond = ['free'];
    const seen = house.port.seen.length;
    const response = await house.get('/v1/agents/7/book', { 'x-svc-session': 'good' });
    expect(response.status).toBe(429);
    expect([response.headers.get('retry-after'), response.headers.get('ratelimit')]).toEqual(['7', '"free";r=0;t=7']);
    expect(await response.json()).toMatchObject({ code: 'rate_limited', error: { type: 'rate_limit_error' } });
    expect(house.port.seen).toHaveLength(seen);
  });

  it.each(['/livez', '/readyz'])('%s is asked as often as its keeper likes', async path => {
    house.port.beyond = ['free'];
    expect((await house.get(path)).status).not.toBe(429);
    expect(house.port.taken).toEqual([]);
  });
});

describe('a paid door', () => {
  it('402 unpaid, however often: every purchase begins with it', async () => {
    house.port.beyond = ['free', 'unproven', 'credentials'];
    expect((await house.post(CHAT, {})).status).toBe(402);
    expect(house.port.taken).toEqual([]);
  });

  it('200 for a payment that has proven its payer, however often, and with no room for other bodies', async () => {
    house.port.beyond = ['free', 'unproven', 'credentials'];
    house.port.crowded = true;
    succeed(house.port, { answer: { id: 'x', choices: [], svc: {} } });
    expect((await house.post(CHAT, chat, paid)).status).toBe(200);
    expect(house.port.taken).toEqual([]);
  });

  it.each([
    ['rejected', payment, 402],
    ['malformed', 'bm9uc2Vuc2U', 400],
  ])('counts a payment that is %s, and answers 429 beyond', async (_, header, status) => {
    house.port.judgement = { kind: 'rejected', reason: 'invalid', presented: null };
    const headers = { 'payment-signature': header };
    expect((await house.post(CHAT, chat, headers)).status).toBe(status);
    expect(house.port.taken).toEqual(['unproven']);
    house.port.beyond = ['unproven'];
    const limited = await house.post(CHAT, chat, headers);
    expect([limited.status, limited.headers.get('ratelimit')]).toEqual([429, '"unproven";r=0;t=7']);
  });

  it('spends a turn before it asks the code at its payer’s address: 429 beyond, and nobody is asked', async () => {
    house.port.judgement = { kind: 'unproven', payer: '0xpayer', presented: null, verified: null };
    const { prove } = house.port;
    const spent: unknown[] = [];
    const answering = (answer: typeof prove): typeof prove => {
      return async (unproven, address) => {
        spent.push([...house.port.taken]);
        return answer(unproven, address);
      };
    };
    house.port.prove = answering(prove);
    succeed(house.port, { answer: { id: 'x', choices: [], svc: {} } });
    expect((await house.post(CHAT, chat, paid)).status).toBe(200);
    expect([spent, house.port.taken]).toEqual([[['unproven']], []]);

    house.port.prove = answering(async () => ({ kind: 'rejected', reason: 'forged', presented: null }));
    expect((await house.post(CHAT, chat, paid)).status).toBe(402);
    expect(house.port.taken).toEqual(['unproven']);

    house.port.beyond = ['unproven'];
    expect((await house.post(CHAT, chat, paid)).status).toBe(429);
    expect(spent).toHaveLength(2);
    house.port.prove = prove;
  });

  it('never makes a 402 of a payment whose outcome the till alone knows', async () => {
    house.port.beyond = ['unproven'];
    fail(house.port, { code: 'settlement_pending', status: 503, message: 'pending', facts: {} });
    expect((await house.post(CHAT, chat, paid)).status).toBe(503);
  });
});

describe('a body', () => {
  it('429 where its address has too many on their way; room is given back also where it is refused', async () => {
    const headers = { 'x-svc-session': 'good' };
    expect((await house.post('/v1/agents/7/book/policy', 'no json', headers)).status).toBe(400);
    expect(house.port.held).toBe(0);
    house.port.crowded = true;
    const refused = await house.post('/v1/agents/7/book/policy', {}, headers);
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ code: 'rate_limited' });
    // Of its two bounds, the one that refused it.
    expect(refused.headers.get('ratelimit')).toBe('"bodies";r=0');
  });
});
