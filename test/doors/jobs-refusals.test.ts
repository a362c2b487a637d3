import { generateKeyPairSigner } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { jobLimits } from '../../schema/limits.ts';
import { DAY_MS, JOBS, type JobAgent, jobOf, openJobs, payoutOf, sha256 } from '../harness/board/jobs.ts';
import { nowSeconds } from '../harness/buyer.ts';

/* Refusals of the endpoints of jobs. No refused request may be paid for. */

let house: Awaited<ReturnType<typeof openJobs>>;
let open: { readonly job_id: string; readonly bid_id: string };
beforeAll(async () => {
  house = await openJobs();
  open = await house.brought('open');
});

/** Expects a refusal with this code, and that no money moved. */
async function unpaid(who: JobAgent, asked: () => Promise<{ status: number; body: unknown }>, code: string) {
  const before = (await house.service.transfersFrom(who.account)).length;
  const heard = await asked();
  expect(heard.body).toMatchObject({ code });
  expect((await house.service.transfersFrom(who.account)).length).toBe(before);
  return heard.status;
}

describe('every door of a job that writes', () => {
  const paths = () => [
    JOBS,
    ...['bid', 'pick', 'deliver', 'reveal', 'challenge'].map(at => `${JOBS}/${open.job_id}/${at}`),
  ];

  it('403 with a demo key beside the session of whoever may: with one nothing is written', async () => {
    const { poster, winner, brought, by, service } = house;
    const [picked, delivered, paid] = [await brought('picked'), await brought('delivered'), await brought('paid', 'x')];
    const may = [
      [poster, JOBS, jobOf()],
      [winner, `${JOBS}/${open.job_id}/bid`, { price: '1' }],
      [poster, `${JOBS}/${open.job_id}/pick`, { bid_id: open.bid_id }],
      [poster, `${JOBS}/${open.job_id}/cancel`, {}],
      [winner, `${JOBS}/${picked.job_id}/deliver`, { output_sha256: sha256('x') }],
      [poster, `${JOBS}/${delivered.job_id}/refuse`, { output_sha256: sha256('The whole of it'), reason: 'Not all' }],
      [poster, `${JOBS}/${delivered.job_id}/pay`, {}],
      [winner, `${JOBS}/${paid.job_id}/reveal`, { output: 'x', encoding: 'utf8' }],
      [poster, `${JOBS}/${paid.job_id}/challenge`, {}],
    ] as const;
    for (const [who, path, body] of may)
      expect((await service.post(path, body, { ...by(who), 'X-API-Key': 'a-demo-key' })).status, path).toBe(403);
    const states = [open, picked, delivered, paid].map(async ({ job_id }) => (await house.read(job_id)).status);
    expect(await Promise.all(states)).toEqual(['open', 'picked', 'delivered', 'paid']);
  });

  it('402 of what is a stamp, to whoever possesses a book', async () => {
    for (const path of paths().slice(0, 2)) {
      const heard = await house.service.post<{ accepts: { maxAmountRequired: string }[] }>(
        path,
        {},
        house.by(house.other),
      );
      expect(heard.status).toBe(402);
      expect(heard.body.accepts.map(({ maxAmountRequired }) => maxAmountRequired)).toEqual(['2000', '2000']);
    }
  });

  it('404 of a job that there is none of', async () => {
    const nowhere = 'job_00000000000000000000000000';
    const { poster, step, bid, service } = house;
    expect(await unpaid(poster, () => bid(poster, nowhere), 'job_not_found')).toBe(404);
    const bodies = {
      pick: { bid_id: 'x' },
      deliver: { output_sha256: sha256('x') },
      refuse: { output_sha256: sha256('x'), reason: 'Not all' },
      cancel: {},
      challenge: {},
      reveal: { output: 'x', encoding: 'utf8' },
    };
    for (const [action, body] of Object.entries(bodies))
      expect(await step(poster, nowhere, action, body)).toMatchObject({ status: 404, body: { code: 'job_not_found' } });
    expect(await service.get(`${JOBS}/${nowhere}`)).toMatchObject({ status: 404, body: { code: 'job_not_found' } });
    expect((await house.output(poster, nowhere)).status).toBe(404);
  });
});

describe('POST /v1/board/jobs', () => {
  it('403 approval_ttl_expired with a signed refusal where the book wants a fresh approval of such a stamp', async () => {
    const agent = await house.service.newAgent();
    const policy = (value: unknown) =>
      house.service.post(
        `/v1/agents/${agent.agent_id}/book/policy`,
        { policy_type: 'tier2_above', value },
        house.by(agent),
      );
    expect((await policy('1999')).status).toBe(200);
    const before = (await house.service.transfersFrom(agent.account)).length;
    const heard = await house.post(agent);
    expect(heard).toMatchObject({
      status: 403,
      body: { refusal_code: 'approval_ttl_expired', issuer_signature: expect.any(Object) },
    });
    expect((await house.service.transfersFrom(agent.account)).length).toBe(before);
    expect((await policy('2000')).status).toBe(200);
    expect((await house.post(agent)).status).toBe(201);
  });

  it('400 of what is no job, and the payment stays usable', async () => {
    const at = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
    const wrong: readonly (readonly [string, JsonObject])[] = [
      ['text', { text: 'x'.repeat(1_001) }],
      ['text', { text: '' }],
      ['text', { text: ' \n\t ' }],
      ['text', { text: '\u00a0\u3000' }],
      ['acceptance_test', { acceptance_test: '  ' }],
      ['text', { text: 'Look at https://example.com/x' }],
      ['text', { text: `My key is sk-proj-${'aB3x'.repeat(12)}` }],
      ['acceptance_test', { acceptance_test: 'See example.com' }],
      ['budget', { budget: '0' }],
      ['budget', { budget: '25000001' }],
      ['budget', { budget: 5 }],
      ['deadline', { deadline: at(-1) }],
      ['deadline', { deadline: at(30.1) }],
      ['deadline', { deadline: 'tomorrow' }],
      ['reward', { reward: '1' }],
    ];
    const { poster, service } = house;
    const before = (await service.transfersFrom(poster.account)).length;
    for (const [param, members] of wrong) {
      const heard = await house.post(poster, members);
      expect(heard, JSON.stringify(members)).toMatchObject({ status: 400, body: { error: { param } } });
    }
    expect((await service.transfersFrom(poster.account)).length).toBe(before);
  });
});

describe('POST /v1/board/jobs/{id}/bid', () => {
  it('409 of the poster’s own, and of a job that takes none any more', async () => {
    const { poster, other, bid } = house;
    expect(await unpaid(poster, () => bid(poster, open.job_id), 'self_bid')).toBe(409);
    const { job_id } = await house.brought('picked');
    expect(await unpaid(other, () => bid(other, job_id), 'job_state_conflict')).toBe(409);
    const late = (await house.post(poster)).body.job_id;
    await house.pass(late);
    expect(await unpaid(other, () => bid(other, late), 'job_state_conflict')).toBe(409);
  });

  it('409 bids_full where as many have bid as may; who has bid already may still revise', async () => {
    const { job_id } = await house.brought('open');
    await house.service.query('update board_job set bid_count = $2 where job_id = $1', [job_id, jobLimits.bidders_max]);
    expect(await unpaid(house.other, () => house.bid(house.other, job_id), 'bids_full')).toBe(409);
    expect(await house.bid(house.winner, job_id, { price: '1400000' })).toMatchObject({
      status: 201,
      body: { revision: 2 },
    });
    expect((await house.read(job_id)).bid_count).toBe(jobLimits.bidders_max);
  });

  it('400 of a price above the budget, of nothing, and of a text that is none', async () => {
    const { other, bid } = house;
    const wrong: readonly JsonObject[] = [
      { price: '5000001' },
      { price: '0' },
      { price: '1', pitch: 'x'.repeat(281) },
      { price: '1', eta: 'see evil.example.com' },
    ];
    for (const body of wrong)
      expect(await unpaid(other, () => bid(other, open.job_id, body), 'invalid_request'), JSON.stringify(body)).toBe(
        400,
      );
  });

  it('400 of a payout that its address has not signed, for this job, this bidder and now', async () => {
    const { other, winner, bid } = house;
    const signer = await generateKeyPairSigner();
    const right = { job_id: open.job_id, agent_id: other.agent_id };
    for (const wrong of [
      { ...right, job_id: 'job_of_another' },
      { ...right, agent_id: winner.agent_id },
      { ...right, at: nowSeconds() - 301 },
      { ...right, at: nowSeconds() + 60 },
    ]) {
      const payout = await payoutOf(signer, wrong);
      expect(await unpaid(other, () => bid(other, open.job_id, { price: '1', payout }), 'payout_not_proven')).toBe(400);
    }
    const payout = { ...(await payoutOf(signer, right)), address: 'not base58' };
    expect(await unpaid(other, () => bid(other, open.job_id, { price: '1', payout }), 'invalid_request')).toBe(400);
  });
});

describe('POST /v1/board/jobs/{id}/pick', () => {
  it('403 to anybody but the poster, 404 of another job’s bid, 409 of one that is not open', async () => {
    const { poster, winner, step } = house;
    const { job_id, bid_id } = await house.brought('picked');
    expect(await step(winner, open.job_id, 'pick', { bid_id: open.bid_id })).toMatchObject({
      status: 403,
      body: { code: 'not_a_party' },
    });
    expect(await step(poster, open.job_id, 'pick', { bid_id })).toMatchObject({
      status: 404,
      body: { code: 'bid_not_found' },
    });
    const second = await house.bid(winner, open.job_id, { price: '7' });
    expect(second.status).toBe(201);
    expect(await step(poster, open.job_id, 'pick', { bid_id: open.bid_id })).toMatchObject({
      status: 409,
      body: { code: 'job_state_conflict', bid_status: 'revised' },
    });
    await house.pass(job_id);
    expect(await step(winner, job_id, 'deliver', { output_sha256: sha256('x') })).toMatchObject({
      status: 409,
      body: { code: 'job_state_conflict', state: 'expired', legal: [] },
    });
  });

  it('409 where the payee could not be paid on Solana, 503 where its chain cannot be asked', async () => {
    const { poster, other, service, bid, step } = house;
    const { job_id } = (await house.post(poster)).body;
    const signer = await generateKeyPairSigner();
    const payout = await payoutOf(signer, { job_id, agent_id: other.agent_id });
    const { bid_id } = (await bid(other, job_id, { price: '1', payout })).body;
    expect(await step(poster, job_id, 'pick', { bid_id })).toMatchObject({
      status: 409,
      body: { code: 'payout_account_missing' },
    });
    service.gate.cut();
    expect(await step(poster, job_id, 'pick', { bid_id })).toMatchObject({
      status: 503,
      body: { code: 'chain_unavailable' },
    });
    service.gate.open();
    await service.svm.fund(signer.address, { usdc_atomic: 1n });
    expect((await step(poster, job_id, 'pick', { bid_id })).body).toMatchObject({
      status: 'picked',
      agent_id: poster.agent_id,
    });
  });
});

describe('POST /v1/board/jobs/{id}/deliver, …/reveal and …/challenge', () => {
  it('403 to anybody but whose it is', async () => {
    const { poster, winner, other, step } = house;
    const { job_id } = await house.brought('paid', 'The output');
    const reveal = { output: 'The output', encoding: 'utf8' };
    for (const [who, action, body] of [
      ...[poster, other].map(who => [who, 'deliver', { output_sha256: sha256('The output') }] as const),
      ...[poster, other].map(who => [who, 'reveal', reveal] as const),
      ...[winner, other].map(who => [who, 'challenge', {}] as const),
    ])
      expect(await step(who, job_id, action, body), action).toMatchObject({
        status: 403,
        body: { code: 'not_a_party' },
      });
  });

  it('409 out of turn, with where the job stands and what may be done there', async () => {
    const { poster, winner, step } = house;
    const { job_id } = await house.brought('delivered', 'The output');
    for (const [who, action, body] of [
      [winner, 'reveal', { output: 'The output', encoding: 'utf8' }],
      [poster, 'challenge', {}],
    ] as const)
      expect(await step(who, job_id, action, body), action).toMatchObject({
        status: 409,
        body: { code: 'job_state_conflict', state: 'delivered', legal: ['deliver', 'refuse', 'pay'] },
      });
  });

  it('400 of what is no hash, of an output that is another, and of one that is not in its encoding', async () => {
    const { winner, step } = house;
    const { job_id } = await house.brought('paid', 'The output');
    expect((await step(winner, job_id, 'deliver', { output_sha256: 'abc' })).status).toBe(400);
    expect(await step(winner, job_id, 'reveal', { output: 'Another', encoding: 'utf8' })).toMatchObject({
      status: 400,
      body: { code: 'output_mismatch' },
    });
    for (const output of ['VGhlIG91dHB1dA', 'VGhl IG91dHB1dA==', 'The output'])
      expect(await step(winner, job_id, 'reveal', { output, encoding: 'base64' })).toMatchObject({
        status: 400,
        body: { code: 'invalid_request', error: { param: 'output' } },
      });
    expect((await house.read(job_id)).status).toBe('paid');
    expect((await house.output(house.poster, job_id)).status).toBe(404);
    expect((await house.service.get(`${JOBS}/${job_id}/output`)).status).toBe(401);
  });
});
