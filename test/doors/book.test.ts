import { createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { BookNoun } from '../../schema/book/book-page.ts';
import { canonicalJson, type JsonObject } from '../../schema/canonical-json.ts';
import { bookProof, proofWindow } from '../../subgraphs/session/possession/proof.ts';
import { ask, CHAT, type Chat, type Service, sharedService } from '../harness/doors/open-service.ts';

type Book = z.infer<typeof BookNoun>;
type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
/** An agent with the stamp and two chats on its book. No test adds to it. */
let reader: Agent;
let bought: readonly Chat[];
beforeAll(async () => {
  service = await sharedService();
  reader = await service.newAgent();
  const intent = { intent_id: 'treasury', attempt_index: 0 };
  bought = [
    (await service.buy(reader.account, ask('First', intent))).body,
    (await service.buy(reader.account, ask('Second', { ...intent, attempt_index: 1 }))).body,
  ];
});

const path = (agent_id: number | string, query = '') => `/v1/agents/${agent_id}/book${query}`;
const read = async ({ agent_id, session }: Agent, query = '') =>
  (await service.get<Book>(path(agent_id, query), { 'X-SVC-Session': session })).body;
const write = ({ agent_id, session }: Agent, body: JsonObject) =>
  service.post<Book>(path(agent_id), { session, ...body });

describe('GET /v1/agents/{agent_id}/book', () => {
  it('200 by X-SVC-Session: rows newest first, each with its facts', async () => {
    const book = await read(reader);
    expect(book).toMatchObject({ agent_id: reader.agent_id, limit: 50, window: 'prepaid_ceiling' });
    const [second, first] = [bought[1]?.svc, bought[0]?.svc];
    expect(book.entries.map(entry => entry.task_id)).toEqual([second?.task_id, first?.task_id, reader.task_id]);
    expect(book.entries[0]).toEqual({
      seq: 3,
      task_id: second?.task_id,
      evidence: 'collected',
      collected: true,
      payment: { ref: second?.payment_ref, rail: 'usdc', amount: '2000' },
      transfer_index: expect.any(Number),
      collected_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      route: { model: bought[1]?.model, hub: second?.hub, answered_model: bought[1]?.model },
      intent_id: 'treasury',
      attempt_index: 1,
      payer_wallet: reader.account.address,
      replay_count: 0,
      replay_events: [],
      arrival_status: 'confirmed',
      fulfillment: expect.objectContaining({ job_kind: 'completions', intent_id: 'treasury', attempt_index: 1 }),
    });
  });

  it('200 with totals, and the intents that the page names', async () => {
    const book = await read(reader);
    expect(book.totals).toEqual({
      count: 3,
      usdc_sum: '6000',
      pending_usdc_sum: '0',
      by_rail: { usdc: { count: 3, amount: '6000' } },
    });
    expect(book).toMatchObject({ spent: '6000', pending: '0', available: null });
    expect(book.intents).toEqual({
      treasury: {
        intent_id: 'treasury',
        attempts: bought.map(({ svc }, attempt_index) =>
          expect.objectContaining({ task_id: svc.task_id, attempt_index, evidence: 'collected' }),
        ),
        attempts_truncated: false,
        collected_count: 2,
        blocked_count: 0,
      },
    });
  });

  it('200 with an allowance that verifies against the published keys', async () => {
    const { allowance } = await read(reader);
    const { agent_id, remaining, as_of, signature } = allowance;
    expect({ agent_id, remaining, alg: signature.alg }).toEqual({
      agent_id: reader.agent_id,
      remaining: null,
      alg: 'ES256',
    });
    const { keys } = (await service.get<{ keys: JsonWebKey[] }>('/.well-known/jwks.json')).body;
    const jwk = keys.find(key => key.crv === 'P-256');
    if (!jwk) throw new Error('no ES256 key is published');
    const key = { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' } as const;
    const verifies = (claim: JsonObject) =>
      verify('sha256', Buffer.from(canonicalJson(claim)), key, Buffer.from(signature.value, 'base64url'));
    expect(verifies({ agent_id, remaining, as_of })).toBe(true);
    expect(verifies({ agent_id, remaining: '1', as_of })).toBe(false);
  });

  it('200 by X-SVC-Proof', async () => {
    const proof = bookProof(reader.session, reader.agent_id, proofWindow(Date.now()));
    const heard = await service.get<Book>(path(reader.agent_id), { 'X-SVC-Proof': proof });
    expect(heard).toMatchObject({ status: 200, body: { agent_id: reader.agent_id } });
  });

  it.each([
    ['default', '', 50, 3],
    ['2', '?limit=2', 2, 2],
    ['200', '?limit=200', 200, 3],
    ['above 200, clamped', '?limit=9999', 200, 3],
  ])('200 with limit %s', async (_, query, limit, rows) => {
    const book = await read(reader, query);
    expect({ limit: book.limit, rows: book.entries.length }).toEqual({ limit, rows });
  });

  it.each(['0', '-1', '1.5', 'many', ''])('400 with limit "%s"', async limit => {
    const headers = { 'X-SVC-Session': reader.session };
    const heard = await service.get(path(reader.agent_id, `?limit=${limit}`), headers);
    expect(heard).toMatchObject({ status: 400, body: { code: 'invalid_request', error: { param: 'limit' } } });
    expect(heard.body.detail).toBe('limit: must be a whole number from 1 to 200; a larger one counts as 200');
  });
});

describe('POST /v1/agents/{agent_id}/book', () => {
  it('200 by session in the body: budget sets, absence reads, null clears', async () => {
    const agent = await service.newAgent();
    const set = await write(agent, { budget: '10000' });
    expect(set.status).toBe(200);
    expect(set.body).toMatchObject({ cap: '10000', spent: '2000', remaining: '8000' });
    expect(set.body.allowance.remaining).toBe('8000');
    expect((await write(agent, {})).body).toMatchObject({ cap: '10000', remaining: '8000' });
    expect(await read(agent)).toMatchObject({ cap: '10000', remaining: '8000' });
    expect((await write(agent, { budget: '1' })).body).toMatchObject({ cap: '1', remaining: '0' });
    expect((await write(agent, { budget: null })).body).toMatchObject({ cap: null, remaining: null });
    expect(await read(agent)).toMatchObject({ cap: null, spent: '2000', remaining: null });
  });

  it('200 by proof in the body, with a limit', async () => {
    const proof = bookProof(reader.session, reader.agent_id, proofWindow(Date.now()));
    const { status, body } = await service.post<Book>(path(reader.agent_id), { proof, limit: 1 });
    expect({ status, limit: body.limit, rows: body.entries.length }).toEqual({ status: 200, limit: 1, rows: 1 });
  });

  it.each<[string, JsonObject]>([
    ['budget', { budget: '-1' }],
    ['budget', { budget: '0.5' }],
    ['budget', { budget: 2000 }],
    ['limit', { limit: 0 }],
    ['limit', { limit: '5' }],
  ])('400 on %s in %o', async (param, body) => {
    const heard = await write(reader, body);
    expect(heard).toMatchObject({ status: 400, body: { code: 'invalid_request', error: { param } } });
  });

  it('415 on a form', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'X-SVC-Session': reader.session };
    expect((await service.post(path(reader.agent_id), 'budget=1', headers)).status).toBe(415);
  });

  it('405 on DELETE, with what is allowed', async () => {
    const heard = await service.knock('DELETE', path(reader.agent_id));
    expect(heard.status).toBe(405);
    expect(heard.headers.get('allow')).toBe('GET, HEAD, POST');
  });
});

describe('a paid call lands', () => {
  it("on the session's book, whoever pays", async () => {
    const [agent, friend] = [await service.newAgent(), await service.chain.newWallet()];
    const { body } = await service.buy(friend, ask(), { 'X-SVC-Session': agent.session });
    expect(body.svc).toMatchObject({ claim_id: agent.agent_id, payer_wallet: friend.address });
    const { entries, spent } = await read(agent);
    expect(entries[0]).toMatchObject({ task_id: body.svc.task_id, payer_wallet: friend.address });
    expect(spent).toBe('4000');
  });

  it("on the session's book, where the payer has one too", async () => {
    const [agent, other] = [await service.newAgent(), await service.newAgent()];
    await service.buy(other.account, ask(), { 'X-SVC-Session': agent.session });
    expect([(await read(agent)).totals.count, (await read(other)).totals.count]).toEqual([2, 1]);
  });

  it("without a session on the wallet's book", async () => {
    const agent = await service.newAgent();
    const { body } = await service.buy(agent.account);
    expect(body.svc.claim_id).toBe(agent.agent_id);
    expect((await read(agent)).entries[0]?.task_id).toBe(body.svc.task_id);
  });

  it('on no book where the payer has none: the receipt stands alone', async () => {
    const { body } = await service.buy(await service.chain.newWallet());
    expect(body.svc).not.toHaveProperty('claim_id');
    expect((await service.get(`/receipt/${body.svc.task_id}`)).status).toBe(200);
    expect(await service.query('select 1 from book_row where task_id = $1', [body.svc.task_id])).toEqual([]);
  });

  it('once: the same payment again counts a replay on the row and consumes neither seq nor budget', async () => {
    const agent = await service.newAgent();
    const payment = await service.payment(agent.account, CHAT);
    const { body } = await service.post<Chat>(CHAT, ask('Again'), payment);
    await service.post<Chat>(CHAT, ask('Again'), payment);
    const { entries, totals, spent } = await read(agent);
    expect({ totals: totals.count, spent }).toEqual({ totals: 2, spent: '4000' });
    expect(entries[0]).toMatchObject({ task_id: body.svc.task_id, replay_count: 1 });
    expect(entries[0]?.replay_events).toEqual([
      { at: expect.any(String), settlement_status: 'idempotent_replay', replay_of: body.svc.task_id },
    ]);
  });

  it('with every row of many calls at once: seq gapless, counters exact', async () => {
    const agent = await service.newAgent();
    const heard = await Promise.all(Array.from({ length: 20 }, (_, n) => service.buy(agent.account, ask(`Call ${n}`))));
    expect(heard.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    const { entries, totals, spent } = await read(agent);
    expect({ count: totals.count, usdc_sum: totals.usdc_sum, spent }).toEqual({
      count: 21,
      usdc_sum: '42000',
      spent: '42000',
    });
    expect(new Set(entries.map(({ task_id }) => task_id)).size).toBe(21);
    const rows = await service.query<{ seq: number; payment_ref: string; transfer_index: number }>(
      'select seq, payment_ref, transfer_index from book_row where agent_id = $1 order by seq',
      [agent.agent_id],
    );
    expect(rows.map(({ seq }) => seq)).toEqual(Array.from({ length: 21 }, (_, index) => index + 1));
    // Many were settled by one transaction. Each row must name a different transfer, and no transfer may lack a row.
    const named = rows.map(({ payment_ref, transfer_index }) => `${payment_ref} ${transfer_index}`);
    const seen = await service.transfersFrom(agent.account);
    expect(named.sort()).toEqual(seen.map(({ tx_hash, log_index }) => `base:${tx_hash} ${log_index}`).sort());
  });
});
