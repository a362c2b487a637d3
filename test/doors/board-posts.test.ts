import { decodeJwt } from 'jose';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { pseudonym } from '../../subgraphs/board/score/read.ts';
import { type BoardService, openBoardService, POSTS, type PostAnswer } from '../harness/board/open-board-service.ts';
import { moveBoard } from '../harness/doors/board-posts.ts';
import type { ChallengeBody } from '../harness/doors/open-service.ts';
import { SHOP, signAsShop } from '../harness/ingest/merchant.ts';
import { invoiceOf, transferOf } from '../harness/ingest/transfer-source.ts';
import { hurryTasks } from '../harness/jobs.ts';

let house: BoardService;
beforeAll(async () => {
  house = await openBoardService();
});

describe('POST /v1/board/posts', () => {
  it('201 backed by its stamp alone: public at once, on its author’s book, with a receipt that binds book and payment', async () => {
    const { author } = house;
    const text = 'Charged twice; <script>alert(1)</script> & no answer.';
    const members = {
      endpoint: 'https://api.Shop.example:8443/v1/x?model=a#b',
      outcome: 'double_charge',
      latency_ms: 1200,
    };
    const heard = await house.post({ ...members, text, receipt_ref: '' });
    expect(heard.status).toBe(201);
    expect(heard.body).toEqual({
      post_id: expect.stringMatching(/^post_[0-9a-z]{26}$/),
      status: 'published',
      endpoint_host: 'api.shop.example:8443',
      host_basis: 'declared',
      outcome: 'double_charge',
      amount: '2000',
      rail: 'usdc',
      latency_ms: 1200,
      date: expect.any(String),
      verify_url: expect.stringMatching(/^https:\/\/gateway\.example\/receipt\/task_/),
      backing: 'stamp-backed',
      self_dealt: false,
      like_count: 0,
      confirm_count: 0,
      untrusted_text: text,
    });
    const { post_id, verify_url } = heard.body;
    expect((await house.service.get(`${POSTS}/${post_id}`)).body).toEqual(heard.body);
    const { body: list } = await house.service.get<{ posts: PostAnswer[] }>(POSTS);
    expect(list.posts[0]).toEqual(heard.body);
    expect(JSON.stringify(list)).not.toMatch(/model=a|\/v1\/x/);
    expect(await house.eventsOf(post_id)).toEqual(['post_created']);

    const stamp = verify_url.split('/').at(-1) ?? '';
    expect(post_id.slice(5)).toBe(stamp.slice(5));
    expect(await house.rowOf(stamp)).toMatchObject({
      evidence: 'collected',
      payment: { amount: '2000', rail: 'usdc' },
      route: { hub: 'svc', model: 'board' },
    });
    const { body: receipt } = await house.service.get(`/receipt/${stamp}.json`);
    expect(decodeJwt(String((receipt.issuer_signature as JsonObject).jws))).toMatchObject({
      payload_version: 4,
      book_id: author.agent_id,
      task_id: stamp,
    });
  });

  it('201 backed by a call here, and signed for: its receipt is of this service', async () => {
    const receipt_ref = await house.called();
    const { status, body } = await house.post({ receipt_ref });
    expect([status, body]).toMatchObject([
      201,
      { backing: 'spend-backed', host_basis: 'signed', amount: '2000', endpoint_host: 'gateway.example' },
    ]);
    expect(body.verify_url).toBe(`https://gateway.example/receipt/${receipt_ref}`);
    const again = await house.post({ receipt_ref });
    expect(again).toMatchObject({ status: 409, body: { code: 'receipt_backs_another' } });
  });

  it('201 and of the endpoint its host alone is kept: a key in a path stands in no dump', async () => {
    const path = 'a-key-in-a-path';
    const { post_id } = await house.posted({ endpoint: `https://shop.example/${path}/v1` });
    const [row] = await house.service.query<{ row: object }>(
      'select to_jsonb(p) as row from board_post p where post_id = $1',
      [post_id],
    );
    expect(row?.row).toMatchObject({ endpoint_host: 'shop.example' });
    expect(JSON.stringify(row)).not.toContain(path);
  });

  it('201 backed by a payment to somebody else, whose host its poster declares', async () => {
    const receipt_ref = await house.ingested();
    const stamps = await house.stampsOf();
    const about = (endpoint: string) => house.post({ endpoint, receipt_ref, outcome: 'price_jump' });
    expect(await about('https://other.example/v1/x')).toMatchObject({
      status: 403,
      body: { code: 'receipt_host_differs', charged: false, error: { param: 'receipt_ref' } },
    });
    expect(await house.stampsOf()).toBe(stamps);
    expect(await about('https://SHOP.example/another/path')).toMatchObject({
      status: 201,
      body: { backing: 'spend-backed', host_basis: 'declared', amount: '2500000', endpoint_host: 'shop.example' },
    });
  });

  it('201 backed by a payment to somebody else who has signed for it; its payer is known to the score, and moves it by nothing', async () => {
    const shop = privateKeyToAccount(generatePrivateKey());
    const transfer = house.world.show(transferOf({ payer: house.author.account.address, pay_to: shop.address }));
    const task_id = await house.recorded({
      ...invoiceOf(transfer),
      offer_receipt: await signAsShop(shop, transfer),
    });
    expect(await house.rowOf(task_id)).toMatchObject({ payer_proven: true, merchant_signed: true });
    const { status, body } = await house.post({ endpoint: SHOP, receipt_ref: task_id });
    expect([status, body]).toMatchObject([201, { host_basis: 'signed', endpoint_host: 'shop.example' }]);
    const score = await house.service.get<JsonObject>('/v1/board/endpoints/shop.example/score');
    expect(score.body).toMatchObject({
      rows: expect.arrayContaining([
        expect.objectContaining({
          post_id: body.post_id,
          zero_because: 'paid_elsewhere',
          proven: true,
          payer: pseudonym(house.author.account.address),
        }),
      ]),
      status: 'unscored',
      score_bp: null,
      unscored_because: 'no_accepted_evidence',
      cost_to_move: { up: null, down: null },
    });
    // Its funders are looked up like those of any payer, by a task of the fleet.
    await expect
      .poll(async () => {
        await hurryTasks(house.service.query, 'board_funding');
        await moveBoard(house.service);
        return (await house.service.get<JsonObject>('/v1/board/endpoints/shop.example/score')).body.payers_unknown;
      })
      .toBe(0);
    await house.service.query(`update foreign_ingest set standing = 'vanished' where task_id = $1`, [task_id]);
    await moveBoard(house.service);
    const gone = await house.service.get<{ rows: JsonObject[] }>('/v1/board/endpoints/shop.example/score');
    expect(gone.body.rows.find(({ post_id }) => post_id === body.post_id)).toMatchObject({ proven: false });
  });

  it('201 once for each payment: sent again it is the same post, and another payment makes another', async () => {
    const { author, service } = house;
    const body = house.report({ text: 'Same again.' });
    const payment = await service.payment(author.account, POSTS, house.possessed());
    const send = () => service.post<PostAnswer>(POSTS, body, { ...house.possessed(), ...payment });
    const [first, again] = [await send(), await send()];
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
    expect((await house.posted({ text: 'Same again.' })).post_id).not.toBe(first.body.post_id);
    const changed = await service.post(POSTS, { ...body, text: 'Otherwise.' }, { ...house.possessed(), ...payment });
    expect(changed.status).toBe(409);
  });

  it('201 with the tombstone for the same payment once the post was taken down, and never what was erased', async () => {
    const { author, service } = house;
    const payment = await service.payment(author.account, POSTS, house.possessed());
    const send = () =>
      service.post<PostAnswer>(POSTS, house.report({ text: 'I regret this.' }), { ...house.possessed(), ...payment });
    const { post_id, date } = (await send()).body;
    await house.act(`${POSTS}/${post_id}/takedown`);
    const again = await send();
    expect([again.status, again.body]).toEqual([201, { post_id, date, status: 'taken_down' }]);
    expect(again.text).not.toContain('regret');
  });

  it('201 to one of several that race to be backed by one receipt', async () => {
    const receipt_ref = await house.called();
    const heard = await Promise.all(['a', 'b', 'c', 'd'].map(text => house.post({ receipt_ref, text })));
    expect(heard.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });

  it.each([
    ['a text of nothing but spaces', { text: ' \n ' }, 'text'],
    ['no https', { endpoint: 'http://shop.example/' }, 'endpoint'],
    ['a user in it', { endpoint: 'https://me@shop.example/' }, 'endpoint'],
    ['a private host', { endpoint: 'https://127.0.0.1/' }, 'endpoint'],
    ['a key in it', { endpoint: 'https://shop.example/?api_key=x' }, 'endpoint'],
    ['another outcome', { outcome: 'great' }, 'outcome'],
    ['a link', { text: 'see evil.com' }, 'text'],
    ['a secret', { text: `ghp_${'a1'.repeat(18)}` }, 'text'],
    ['too much text', { text: 'a'.repeat(1_001) }, 'text'],
    ['a time below zero', { latency_ms: -1 }, 'latency_ms'],
    ['a member that is not known', { agent: 1 }, 'agent'],
  ])('400 of %s, and the payment stays usable', async (_, members, param) => {
    const { author, service } = house;
    const payment = await service.payment(author.account, POSTS, house.possessed());
    const headers = { ...house.possessed(), ...payment };
    expect(await service.post(POSTS, house.report(members), headers)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', error: { param } },
    });
    if (param === 'endpoint') return;
    expect((await service.post(POSTS, house.report(), headers)).status).toBe(201);
  });

  it('401, 403 with nothing in them before 402, which comes before the body; a key pays for nothing here', async () => {
    const { service } = house;
    expect(await service.post(POSTS, house.report())).toMatchObject({ status: 401, text: '' });
    const wrong = { 'X-SVC-Session': `svcs_${'x'.repeat(43)}` };
    expect(await service.post(POSTS, house.report(), wrong)).toMatchObject({ status: 403, text: '' });
    const unpaid = await service.post<ChallengeBody>(POSTS, { nothing: 'of it' }, house.possessed());
    expect(unpaid.status).toBe(402);
    expect(unpaid.body.accepts).toMatchObject([{ network: 'base', maxAmountRequired: '2000' }]);
    for (const key of ['a-live-key', 'a-demo-key', 'a-waiver-key'])
      expect([402, 403]).toContain(
        (await service.post(POSTS, house.report(), { ...house.possessed(), 'X-API-Key': key })).status,
      );
  });

  it('403 of a receipt that is not on the author’s book, or backs nothing, and nothing is charged', async () => {
    const { author, other, service } = house;
    const stamps = await house.stampsOf();
    const refused = (code: string) => ({ status: 403, body: { code, charged: false } });
    for (const receipt_ref of [await house.called(other), 'task_of_nobody', `task_${'0'.repeat(26)}`])
      expect(await house.post({ receipt_ref })).toMatchObject(refused('receipt_not_on_book'));
    const keyed = await service.post<{ svc: { task_id: string } }>(
      '/v1/chat/completions',
      { messages: [{ role: 'user', content: 'By a key' }] },
      { ...house.possessed(), 'X-API-Key': 'a-live-key' },
    );
    const unproven = await house.ingested({}, other.account.address);
    const unbacking = [keyed.body.svc.task_id, unproven];
    expect(await house.stampsOf()).toBe(stamps);
    const stamp = (await house.posted()).verify_url.split('/').at(-1) ?? '';
    for (const receipt_ref of [...unbacking, stamp])
      expect(await house.post({ endpoint: 'https://gateway.example/', receipt_ref })).toMatchObject(
        refused('receipt_not_qualifying'),
      );
    expect(await house.stampsOf()).toBe(stamps + 1);
    expect(author.agent_id).not.toBe(other.agent_id);
  });

  it('403 receipt_not_qualifying of a payment from a wallet to itself, and nothing is charged', async () => {
    const { author } = house;
    const stamps = await house.stampsOf();
    const own = author.account.address;
    const elsewhere = privateKeyToAccount(generatePrivateKey());
    const itself = await house.recorded(invoiceOf(house.world.show(transferOf({ payer: own, pay_to: own }))));
    expect(await house.rowOf(itself)).toMatchObject({ payer_proven: true, pay_to: own });
    for (const outcome of ['double_charge', 'success'])
      expect(await house.post({ endpoint: SHOP, receipt_ref: itself, outcome })).toMatchObject({
        status: 403,
        body: { code: 'receipt_not_qualifying', charged: false, error: { param: 'receipt_ref' } },
      });
    expect(await house.stampsOf()).toBe(stamps);
    const spent = await house.recorded(
      invoiceOf(house.world.show(transferOf({ payer: own, pay_to: elsewhere.address }))),
    );
    expect(await house.post({ endpoint: SHOP, receipt_ref: spent })).toMatchObject({
      status: 201,
      body: { backing: 'spend-backed', self_dealt: false },
    });
  });

  it('403 with the signed refusal of a book that allows no more, and nothing is charged', async () => {
    const who = await house.service.newAgent();
    const set = (value: boolean) =>
      house.act(`/v1/agents/${who.agent_id}/book/policy`, who, { policy_type: 'kill_switch', value });
    await set(true);
    const stamps = await house.stampsOf(who);
    const blocked = await house.post({}, who);
    expect(blocked).toMatchObject({ status: 403, body: { refusal_code: 'policy_blocked', charged: false } });
    expect(await house.stampsOf(who)).toBe(stamps);
    await set(false);
    expect((await house.post({}, who)).status).toBe(201);
  });

  it('415 and 413 of what is no request', async () => {
    const headers = { ...house.possessed(), 'content-type': 'text/plain' };
    expect((await house.service.knock('POST', POSTS, { headers, body: '{}' })).status).toBe(415);
    const long = house.report({ text: 'a'.repeat(300_000) });
    expect((await house.service.post(POSTS, long, house.possessed())).status).toBe(413);
  });
});
