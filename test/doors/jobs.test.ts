import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { DAY_MS, JOBS, type JobAgent, jobOf, OPS_SECRET, openJobs, payoutOf, sha256 } from '../harness/board/jobs.ts';
import { payingFetch } from '../harness/buyer.ts';
import { onGraph } from '../harness/doors/on-graph.ts';

/* Jobs on the board from their post to their close. Their payments are tested in job-payment.test.ts. */

let house: Awaited<ReturnType<typeof openJobs>>;
beforeAll(async () => {
  house = await openJobs();
});

const OUTPUT = 'Tidal power is on the rise.\u0000 <script>alert(1)</script>';

describe('POST /v1/board/jobs', () => {
  it('201 for a stamp, which is a row of its poster’s book and holds against its ceilings', async () => {
    const { service, poster } = house;
    const deadline = new Date(Date.now() + 7 * DAY_MS).toISOString().slice(0, 10);
    const heard = await house.post(poster, { deadline, acceptance_test: 'Three papers, one page each' });
    expect(heard.status, heard.text).toBe(201);
    expect(heard.body).toMatchObject({
      job_id: expect.stringMatching(/^job_[0-9a-z]{26}$/),
      agent_id: poster.agent_id,
      status: 'open',
      delivered: false,
      untrusted_text: jobOf().text,
      untrusted_acceptance_test: 'Three papers, one page each',
      budget: '5000000',
      deadline: `${deadline}T23:59:59.999Z`,
      bid_count: 0,
    });
    const task_id = heard.body.job_id.replace('job_', 'task_');
    expect(heard.body.verify_url).toMatch(new RegExp(`/receipt/${task_id}$`));
    const book = await service.get<{ entries: { task_id: string }[]; spent: string }>(
      `/v1/agents/${poster.agent_id}/book`,
      house.by(poster),
    );
    expect(book.body.entries.map(entry => entry.task_id)).toContain(task_id);
    expect(await house.kindsOf(heard.body.job_id)).toEqual(['job_posted']);
  });

  it('201 again of the same payment and body: the same job; another payment makes another', async () => {
    const { service, poster } = house;
    const body = jobOf({ text: 'The same twice' });
    const payment = await service.payment(poster.account, JOBS, house.by(poster));
    const first = await service.post(JOBS, body, { ...house.by(poster), ...payment });
    const again = await service.post(JOBS, body, { ...house.by(poster), ...payment });
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
    expect((await house.post(poster, { text: 'The same twice' })).body.job_id).not.toBe(first.body.job_id);
  });
});

describe('POST /v1/board/jobs/{id}/bid', () => {
  it('201 of a bid and of its one revision, each a bid of its own at the price that is read', async () => {
    const { poster, winner, read } = house;
    const { job_id } = (await house.post(poster)).body;
    const first = await house.bid(winner, job_id, { price: '3000000', eta: 'in two days', pitch: 'I have read them' });
    expect(first.status, first.text).toBe(201);
    expect(first.body).toMatchObject({
      bid_id: expect.stringMatching(/^bid_[0-9a-z]{26}$/),
      job_id,
      agent_id: winner.agent_id,
      status: 'open',
      revision: 1,
      price: '3000000',
      untrusted_eta: 'in two days',
      untrusted_pitch: 'I have read them',
      network: 'base',
      pay_to: winner.account.address,
    });
    const second = await house.bid(winner, job_id, { price: '2500000' });
    expect(second.body).toMatchObject({ status: 'open', revision: 2, price: '2500000' });
    expect(await read(job_id)).toMatchObject({
      bid_count: 1,
      bids: [
        { bid_id: first.body.bid_id, status: 'revised' },
        { bid_id: second.body.bid_id, status: 'open' },
      ],
    });
    const third = await house.bid(winner, job_id, { price: '2000000' });
    expect(third).toMatchObject({ status: 409, body: { code: 'bids_used' } });
    expect((await house.step(poster, job_id, 'pick', { bid_id: first.body.bid_id })).status).toBe(409);
    expect(await house.kindsOf(job_id)).toEqual(['job_posted', 'job_bid', 'job_bid']);
  });

  it('201 to be paid on Solana, where the address has signed for this job and this bidder', async () => {
    const { service, poster, winner, other } = house;
    const { job_id } = (await house.post(poster)).body;
    const wallet = await service.svm.newWallet(1n);
    const payout = await payoutOf(wallet.signer, { job_id, agent_id: winner.agent_id });
    const heard = await house.bid(winner, job_id, { price: '1', payout });
    expect(heard.body).toMatchObject({ network: 'solana', pay_to: wallet.address });
    expect(await house.bid(other, job_id, { price: '1', payout })).toMatchObject({
      status: 400,
      body: { code: 'payout_not_proven' },
    });
    const picked = await house.step(poster, job_id, 'pick', { bid_id: heard.body.bid_id });
    expect(picked.body).toMatchObject({ status: 'picked', price: '1' });
    const unpaid = { network: 'solana', status: 'unpaid', payment_ref: null, output_sha256: null };
    expect(picked.body.legs).toEqual([
      { ...unpaid, leg: 'winner', pay_to: wallet.address, amount: '1' },
      { ...unpaid, leg: 'fee', pay_to: expect.any(String), amount: '2001' },
    ]);
  });
});

describe('a job that is done', () => {
  it('is picked, delivered, paid, challenged and closed; its output is its poster’s alone', async () => {
    const { poster, winner, other, step, read } = house;
    const { job_id } = (await house.post(poster)).body;
    const lost = (await house.bid(other, job_id, { price: '4000000' })).body;
    const { bid_id } = (await house.bid(winner, job_id)).body;

    const picked = await step(poster, job_id, 'pick', { bid_id });
    expect(picked).toMatchObject({
      status: 200,
      body: { status: 'picked', picked_bid_id: bid_id, winner_agent_id: winner.agent_id, price: '1500001' },
    });
    expect(picked.body.legs.map(({ amount }) => amount)).toEqual(['1500001', '17001']);
    expect((await step(poster, job_id, 'pick', { bid_id })).body).toEqual(picked.body);
    const { bids } = await read(job_id);
    expect(bids.map(({ bid_id: id, status }) => [id, status])).toEqual([
      [lost.bid_id, 'expired'],
      [bid_id, 'picked'],
    ]);

    const delivery = { output_sha256: `0x${sha256(OUTPUT).toUpperCase()}`, preview: 'Tidal power is' };
    const delivered = await step(winner, job_id, 'deliver', delivery);
    expect(delivered).toMatchObject({
      status: 200,
      body: {
        status: 'delivered',
        delivered: true,
        output_sha256: sha256(OUTPUT),
        untrusted_preview: 'Tidal power is',
      },
    });
    expect((await step(winner, job_id, 'deliver', delivery)).body).toEqual(delivered.body);

    await house.paid(job_id, 'task_of_both_legs');
    const shown = await read(job_id);
    expect(shown).toMatchObject({ status: 'paid', delivered: true, challenged_at: null });
    expect(shown.payout).toMatchObject({
      verify_url: expect.stringMatching(/\/receipt\/task_of_both_legs$/),
      network: 'base',
      pay_to: winner.account.address,
      amount: '1500001',
    });
    expect(shown.legs.map(({ status }) => status)).toEqual(['settled', 'settled']);

    const reason = 'Nothing came for two days';
    const challenged = await step(poster, job_id, 'challenge', { reason });
    expect(challenged).toMatchObject({
      status: 200,
      body: { status: 'paid', delivered: false, untrusted_challenge_reason: reason },
    });
    expect((await step(poster, job_id, 'challenge')).body).toEqual(challenged.body);
    expect((await house.output(poster, job_id)).status).toBe(404);

    const reveal = { output: Buffer.from(OUTPUT).toString('base64'), encoding: 'base64' };
    const closed = await step(winner, job_id, 'reveal', reveal);
    expect(closed).toMatchObject({
      status: 200,
      body: { status: 'closed', delivered: true, challenged_at: challenged.body.challenged_at },
    });
    expect((await step(winner, job_id, 'reveal', reveal)).body).toEqual(closed.body);

    const output = await house.output(poster, job_id);
    expect(output).toMatchObject({
      status: 200,
      body: { job_id, output_sha256: sha256(OUTPUT), encoding: 'base64', untrusted_output: reveal.output },
    });
    expect(output.headers.get('cache-control')).toBe('no-store');
    expect([(await house.output(winner, job_id)).status, (await house.output(other, job_id)).status]).toEqual([
      403, 403,
    ]);
    const [kept] = await house.service.query('select output_box from board_job_output where job_id = $1', [job_id]);
    expect(kept?.output_box.includes('Tidal power')).toBe(false);
    expect(JSON.stringify(await read(job_id))).not.toContain('on the rise');
    expect(await house.kindsOf(job_id)).toEqual([
      'job_posted',
      'job_bid',
      'job_bid',
      'job_picked',
      'job_delivered',
      'job_paid',
      'job_challenged',
      'job_closed',
    ]);
  });

  it('takes an output of 1 MiB in either encoding, and not a byte more', async () => {
    const { winner, poster, step, output } = house;
    const longest = '\n'.repeat(2 ** 20);
    const { job_id } = await house.brought('paid', longest);
    const over = { output: Buffer.from(`${longest}x`).toString('base64'), encoding: 'base64' };
    expect((await step(winner, job_id, 'reveal', over)).status).toBe(413);
    const closed = await step(winner, job_id, 'reveal', { output: longest });
    expect(closed.body).toMatchObject({ status: 'closed' });
    expect((await output(poster, job_id)).body.untrusted_output).toBe(longest);
  });
});

describe('POST /v1/board/jobs/{id}/refuse', () => {
  const REASON = 'The second paper is missing';
  const refusal = (output = 'The whole of it', reason = REASON) => ({ output_sha256: sha256(output), reason });

  it('200 and again 200: the winner delivers once more, and a second refusal ends the job as refused', async () => {
    const { poster, winner, other, step, read } = house;
    const { job_id } = await house.brought('delivered');
    const refused = await step(poster, job_id, 'refuse', refusal());
    expect(refused).toMatchObject({
      status: 200,
      body: {
        status: 'picked',
        delivered: false,
        output_sha256: null,
        delivered_at: null,
        refusals: 1,
        refused_output_sha256: sha256('The whole of it'),
        untrusted_refusal_reason: REASON,
        refused_at: expect.any(String),
        legs: [{ output_sha256: null }, { output_sha256: null }],
      },
    });
    expect((await step(poster, job_id, 'refuse', refusal())).body).toEqual(refused.body);
    expect(await step(winner, job_id, 'deliver', { output_sha256: sha256('The whole of it') })).toMatchObject({
      status: 409,
      body: { code: 'output_refused' },
    });
    const again = await step(winner, job_id, 'deliver', { output_sha256: sha256('All of it') });
    expect(again).toMatchObject({ status: 200, body: { status: 'delivered', refusals: 1 } });
    expect(again.body.legs.map(leg => leg.output_sha256)).toEqual([sha256('All of it'), sha256('All of it')]);
    expect((await step(poster, job_id, 'refuse', refusal('All of it'))).body).toMatchObject({
      status: 'refused',
      refusals: 2,
    });
    expect(await house.service.post(`${JOBS}/${job_id}/pay`, {}, house.by(poster))).toMatchObject({
      status: 409,
      body: { code: 'job_state_conflict', state: 'refused', legal: [] },
    });
    expect((await house.list('?status=refused&limit=1')).jobs[0]?.job_id).toBe(job_id);
    expect(await house.bid(other, job_id)).toMatchObject({ status: 409, body: { code: 'job_state_conflict' } });
    expect((await read(job_id)).bids.map(({ status }) => status)).toEqual(['picked']);
  });

  it('403 to anybody but the poster; 409 of another hash than is delivered, and of what is not delivered', async () => {
    const { poster, winner, other, step } = house;
    const { job_id } = await house.brought('delivered');
    for (const who of [winner, other])
      expect(await step(who, job_id, 'refuse', refusal())).toMatchObject({
        status: 403,
        body: { code: 'not_a_party' },
      });
    expect(await step(poster, job_id, 'refuse', refusal('Another'))).toMatchObject({
      status: 409,
      body: { code: 'job_output_differs', output_sha256: sha256('The whole of it') },
    });
    const picked = await house.brought('picked');
    const paid = await house.brought('paid');
    for (const { job_id: not_delivered } of [picked, paid])
      expect(await step(poster, not_delivered, 'refuse', refusal())).toMatchObject({
        status: 409,
        body: { code: 'job_state_conflict' },
      });
  });

  it('400 of no reason, of a long one and of one with a link', async () => {
    const { poster, step } = house;
    const { job_id } = await house.brought('delivered');
    for (const reason of [undefined, '', ' ', 'x'.repeat(281), 'see https://example.com/x'])
      expect(
        await step(poster, job_id, 'refuse', {
          ...refusal(),
          ...(reason === undefined ? { reason: null } : { reason }),
        }),
      ).toMatchObject({
        status: 400,
        body: { error: { param: 'reason' } },
      });
    expect((await house.read(job_id)).status).toBe('delivered');
  });
});

describe('GET /v1/agents/{agent_id}/record', () => {
  it('200: counts what an agent did with jobs, of days that are over, as ranges', async () => {
    const { service, step } = house;
    const [poster, winner] = [await service.newAgent(), await service.newAgent()];
    const jobsOf = async ({ agent_id }: JobAgent) =>
      (await service.get<{ jobs: JsonObject }>(`/v1/agents/${agent_id}/record`)).body.jobs;
    const nothing = { posted: '0', won: '0', closed: '0', refusals_made: '0', refusals_received: '0' };
    for (const output of ['One', 'Two']) {
      const { job_id } = (await house.post(poster)).body;
      const { bid_id } = (await house.bid(winner, job_id)).body;
      await step(poster, job_id, 'pick', { bid_id });
      await step(winner, job_id, 'deliver', { output_sha256: sha256('Not yet') });
      const refused = { output_sha256: sha256('Not yet'), reason: 'Half of it is missing' };
      expect((await step(poster, job_id, 'refuse', refused)).status).toBe(200);
      await step(winner, job_id, 'deliver', { output_sha256: sha256(output) });
      await house.paid(job_id, job_id.replace('job_', 'task_'));
      expect((await step(winner, job_id, 'reveal', { output })).status).toBe(200);
    }
    // Jobs of the current day are not shown.
    expect([await jobsOf(poster), await jobsOf(winner)]).toEqual([nothing, nothing]);
    const agents = [poster.agent_id, winner.agent_id];
    await service.query('update board_agent_day set day = day - 1 where agent_id = any($1)', [agents]);
    // Uses another query, because the answer to the former one is cached.
    const graph = async ({ agent_id }: JobAgent) =>
      (
        await onGraph(
          service,
          `{ agentRecord(agentId: ${agent_id}) { jobs { jobsPosted jobsWon jobsClosed refusalsMade refusalsReceived } } }`,
        )
      ).data;
    expect(await graph(poster)).toEqual({
      agentRecord: {
        jobs: { jobsPosted: '1-9', jobsWon: '0', jobsClosed: '0', refusalsMade: '1-9', refusalsReceived: '0' },
      },
    });
    expect(await jobsOf(winner)).toEqual({ ...nothing, won: '1-9', closed: '1-9', refusals_received: '1-9' });
  });
});

describe('POST /v1/board/jobs/{id}/deliver, once more', () => {
  it('200: another hash takes the place of the first while nothing is paid for it, and the job stays delivered', async () => {
    const { winner, step, read } = house;
    const { job_id } = await house.brought('delivered');
    const before = await read(job_id);
    const replaced = await step(winner, job_id, 'deliver', { output_sha256: sha256('All of it'), preview: 'All' });
    expect(replaced).toMatchObject({
      status: 200,
      body: { status: 'delivered', output_sha256: sha256('All of it'), untrusted_preview: 'All', refusals: 0 },
    });
    expect(replaced.body.deadline).toBe(before.deadline);
    expect((await house.kindsOf(job_id)).slice(-2)).toEqual(['job_delivered', 'job_delivered']);
  });
});

describe('while a process of the version before runs beside', () => {
  it('503 to a poster who refuses or cancels, with nothing written, as that one could not read it; 200 once it has ended', async () => {
    const { poster, service, step, read } = house;
    const [open, delivered] = [await house.brought('open'), await house.brought('delivered')];
    const [owner] = await service.query<{ owner: string }>(
      `insert into process_lease (owner, expires_at) values (gen_random_uuid(), now() + interval '1 hour') returning owner`,
    );
    const refusal = { output_sha256: sha256('The whole of it'), reason: 'Too short' };
    const told = { status: 503, body: { code: 'unavailable', retry_after_seconds: 60 } };
    for (const [{ job_id }, action, body] of [
      [open, 'cancel', {}],
      [delivered, 'refuse', refusal],
    ] as const) {
      const [before, events] = [await read(job_id), await house.kindsOf(job_id)];
      const heard = await step(poster, job_id, action, body);
      expect(heard).toMatchObject(told);
      expect(heard.headers.get('retry-after')).toBe('60');
      expect(await read(job_id)).toEqual(before);
      expect(await house.kindsOf(job_id)).toEqual(events);
    }
    await service.query('update process_lease set expires_at = now() where owner = $1', [owner?.owner]);
    expect(await step(poster, open.job_id, 'cancel')).toMatchObject({ status: 200, body: { status: 'cancelled' } });
    expect(await step(poster, delivered.job_id, 'refuse', refusal)).toMatchObject({ status: 200 });
  });
});

describe('POST /v1/board/jobs/{id}/cancel', () => {
  it('200 and again 200 before a pick: its bids are over, and nobody bids any more', async () => {
    const { poster, winner, other, step, read } = house;
    const { job_id, bid_id } = await house.brought('open');
    expect(await step(winner, job_id, 'cancel')).toMatchObject({ status: 403, body: { code: 'not_a_party' } });
    const cancelled = await step(poster, job_id, 'cancel');
    expect(cancelled).toMatchObject({ status: 200, body: { status: 'cancelled', cancelled_at: expect.any(String) } });
    expect((await step(poster, job_id, 'cancel')).body).toEqual(cancelled.body);
    expect((await read(job_id)).bids.map(({ status }) => status)).toEqual(['expired']);
    expect(await step(poster, job_id, 'pick', { bid_id })).toMatchObject({ status: 409 });
    const stamps = (await house.service.transfersFrom(other.account)).length;
    expect(await house.bid(other, job_id)).toMatchObject({ status: 409, body: { code: 'job_state_conflict' } });
    expect((await house.service.transfersFrom(other.account)).length).toBe(stamps);
    expect((await house.list('?status=cancelled&limit=1')).jobs[0]?.job_id).toBe(job_id);
    expect(await house.kindsOf(job_id)).toEqual(['job_posted', 'job_bid', 'job_cancelled']);
  });

  it('409 once a bid is picked', async () => {
    const { job_id } = await house.brought('picked');
    expect(await house.step(house.poster, job_id, 'cancel')).toMatchObject({
      status: 409,
      body: { code: 'job_state_conflict', state: 'picked', legal: ['deliver'] },
    });
  });
});

describe('GET /v1/board/jobs', () => {
  it('200: a page newest first, the next one by its key, and those of one status', async () => {
    const { poster, list } = house;
    const posted: string[] = [];
    for (const text of ['one', 'two', 'three']) posted.push((await house.post(poster, { text })).body.job_id);
    const [one, two, three] = posted;
    const first = await list('?limit=2');
    expect(first.jobs.map(({ job_id }) => job_id)).toEqual([three, two]);
    expect(first.next).toBe(two);
    expect((await list(`?limit=2&before=${first.next}`)).jobs[0]?.job_id).toBe(one);
    const { job_id } = await house.brought('picked');
    expect((await list('?status=picked&limit=1')).jobs[0]?.job_id).toBe(job_id);
    const open = await list('?status=open&limit=50');
    expect(new Set(open.jobs.map(({ status }) => status))).toEqual(new Set(['open']));
    expect((await list(`?status=open&before=${two}`)).jobs[0]?.job_id).toBe(one);
    expect((await list(`?status=expired&before=${one}`)).next).toBeNull();
  });

  it('200: those of an agent, by whether it has posted or won them, of one status or of all, page by page', async () => {
    const { service, list, other, bid, step } = house;
    const poster = await service.newAgent();
    const won: string[] = [];
    for (let count = 0; count < 3; count++) {
      const { job_id } = (await house.post(poster)).body;
      const { bid_id } = (await bid(other, job_id, { price: '2000' })).body;
      if (count < 2) expect((await step(poster, job_id, 'pick', { bid_id })).status).toBe(200);
      won.unshift(job_id);
    }
    const ids = async (query: string) => (await list(query)).jobs.map(({ job_id }) => job_id);
    const posted = `?poster_agent_id=${poster.agent_id}`;
    expect(await ids(posted)).toEqual(won);
    expect(await ids(`${posted}&status=picked`)).toEqual(won.slice(1));
    expect(await ids(`${posted}&status=open`)).toEqual(won.slice(0, 1));
    expect(await ids(`${posted}&limit=2`)).toEqual(won.slice(0, 2));
    expect(await ids(`${posted}&limit=2&before=${won[1]}`)).toEqual(won.slice(2));
    expect(await ids(`${posted}&winner_agent_id=${other.agent_id}`)).toEqual(won.slice(1));
    expect(await ids(`?winner_agent_id=${other.agent_id}&status=picked&limit=2`)).toEqual(won.slice(1));
    expect(await ids(`?winner_agent_id=${poster.agent_id}`)).toEqual([]);
    await house.pass(String(won[0]));
    expect(await ids(`${posted}&status=open`)).toEqual([]);
    expect(await ids(`${posted}&status=expired`)).toEqual(won.slice(0, 1));
    for (const query of ['?poster_agent_id=x', '?poster_agent_id=0', '?winner_agent_id=-1'])
      expect((await service.get(`${JOBS}${query}`)).status).toBe(400);
  });

  it('400 of a status, a limit or a page that there is none of, and of what is not known', async () => {
    for (const query of [
      '?status=done',
      '?limit=0',
      '?limit=x',
      '?before=',
      '?before=x',
      '?before=post_1',
      '?sort=asc',
    ])
      expect((await house.service.get(`${JOBS}${query}`)).status, query).toBe(400);
  });
});

describe('the graph', () => {
  it('does and shows all of it alike, and takes an output that is longer than other texts may be', async () => {
    const { service, poster, winner } = house;
    const graphAs = async (who: JobAgent | null, query: string, variables: JsonObject = {}) => {
      const knock = { body: { query, variables }, headers: who ? house.by(who) : {} };
      const by = who && query.includes('paid') ? { by: payingFetch(who.account) } : {};
      const heard = await service.knock<{ data: { it: JsonObject } | null }>('POST', '/graphql', { ...knock, ...by });
      expect(heard.body.data?.it, heard.text).toBeTruthy();
      return heard.body.data?.it ?? {};
    };
    const { text, ...terms } = jobOf();
    const input = { ...terms, text: 'Over the graph' };
    expect(text).not.toBe(input.text);
    const post =
      'mutation paid($input: BoardJobInput!) { it: postJob(input: $input) { jobId status verifyUrl legs { leg } } }';
    const { jobId } = await graphAs(poster, post, { input });
    const bid = `mutation paid($input: BoardBidInput!) { it: bidOnJob(jobId: "${jobId}", input: $input) { bidId status price } }`;
    const { bidId } = await graphAs(winner, bid, { input: { price: '1000' } });
    const output = 'x'.repeat(100_000);
    const step = (who: JobAgent, field: string) => graphAs(who, `mutation { it: ${field} { status delivered } }`);
    expect(await step(poster, `pickBid(jobId: "${jobId}", bidId: "${bidId}")`)).toEqual({
      status: 'picked',
      delivered: false,
    });
    const [early, reason] = [sha256('Not all of it'), 'Half of it is missing'];
    await step(winner, `deliverJob(jobId: "${jobId}", outputSha256: "${early}")`);
    expect(
      await step(poster, `refuseDelivery(jobId: "${jobId}", outputSha256: "${early}", reason: "${reason}")`),
    ).toEqual({ status: 'picked', delivered: false });
    expect(await step(winner, `deliverJob(jobId: "${jobId}", outputSha256: "${sha256(output)}")`)).toEqual({
      status: 'delivered',
      delivered: true,
    });
    await house.paid(String(jobId), 'task_by_graph');
    expect(await step(poster, `challengeJob(jobId: "${jobId}", reason: "Late")`)).toEqual({
      status: 'paid',
      delivered: false,
    });
    const reveal = `mutation ($output: String!) { it: revealJob(jobId: "${jobId}", output: $output) { status } }`;
    expect(await graphAs(winner, reveal, { output })).toEqual({ status: 'closed' });
    const read = `{ it: boardJobOutput(jobId: "${jobId}") { encoding untrustedOutput } }`;
    expect(await graphAs(poster, read)).toEqual({ encoding: 'utf8', untrustedOutput: output });
    const flag = `mutation paid { it: flagJob(jobId: "${jobId}", reason: "Odd") { jobId flagCount } }`;
    expect(await graphAs(winner, flag)).toEqual({ jobId, flagCount: 1 });
    const { jobId: unwanted } = await graphAs(poster, post, { input });
    expect(await step(poster, `cancelJob(jobId: "${unwanted}")`)).toEqual({ status: 'cancelled', delivered: false });
    const shown = `{ it: boardJob(jobId: "${jobId}") { status payout { verifyUrl } bids { price agentId } legs { amount status } } }`;
    expect(await graphAs(null, shown)).toMatchObject({
      status: 'closed',
      payout: { verifyUrl: expect.stringMatching(/task_by_graph$/) },
      bids: [{ price: '1000', agentId: winner.agent_id }],
      legs: [
        { amount: '1000', status: 'settled' },
        { amount: '2010', status: 'settled' },
      ],
    });
    const page = '{ it: boardJobs(limit: 1, status: closed) { next jobs { jobId untrustedText } } }';
    expect(await graphAs(null, page)).toEqual({
      next: expect.any(String),
      jobs: [{ jobId, untrustedText: input.text }],
    });
  });
});

describe('POST /v1/board/jobs/{id}/hide', () => {
  const OUTPUT = 'Tidal power is on the rise.';
  const ops = { 'X-SVC-Board-Ops': OPS_SECRET };
  const hide = (job_id: string, headers: Readonly<Record<string, string>> = ops) =>
    house.service.post(`${JOBS}/${job_id}/hide`, {}, headers);
  const seen = async (query: string, headers = {}) => (await onGraph(house.service, query, {}, headers)).data;

  it('200 and again 200: no list, feed or search has it, nobody bids on it, and followers are told once', async () => {
    const { service, other, poster } = house;
    const { job_id } = (await house.post(poster, { text: 'An unspeakable errand' })).body;
    for (let again = 0; again < 2; again++)
      expect(await hide(job_id)).toMatchObject({ status: 200, body: { job_id, hidden: true } });
    expect((await service.get(`${JOBS}/${job_id}`)).status).toBe(404);
    for (const path of [JOBS, `${JOBS}?status=open`, '/v1/board/feed.json', '/v1/board/search?q=unspeakable'])
      expect((await service.get(path)).text, path).not.toContain(job_id);
    const stamps = (await service.transfersFrom(other.account)).length;
    expect(await house.bid(other, job_id)).toMatchObject({ status: 404, body: { code: 'job_not_found' } });
    expect((await service.transfersFrom(other.account)).length).toBe(stamps);
    expect(await house.step(other, job_id, 'pick', { bid_id: 'bid_none' })).toMatchObject({ status: 404 });
    expect(await house.kindsOf(job_id)).toEqual(['job_posted', 'job_hidden']);
  });

  it('what is between its parties goes on: it is delivered, paid, revealed and read as before', async () => {
    const { poster, winner, other, by } = house;
    const { job_id } = await house.brought('picked', OUTPUT);
    await hide(job_id);
    const query = `{ boardJob(jobId: "${job_id}") { status } }`;
    expect(await seen(query, by(poster))).toEqual({ boardJob: { status: 'picked' } });
    expect(await seen(query, by(winner))).toEqual({ boardJob: { status: 'picked' } });
    expect(await seen(query, by(other))).toEqual({ boardJob: null });
    // A shared cache would give the answer to others, so it must not be stored.
    for (const party of [poster, winner]) {
      const { status, headers } = await house.service.get(`${JOBS}/${job_id}`, by(party));
      expect([status, headers.get('cache-control'), headers.get('etag')]).toEqual([200, 'no-store', null]);
    }
    expect((await house.step(winner, job_id, 'deliver', { output_sha256: sha256(OUTPUT) })).status).toBe(200);
    const due = await house.service.post<{ accepts: { maxAmountRequired: string }[] }>(
      `${JOBS}/${job_id}/pay`,
      {},
      by(poster),
    );
    expect([due.status, due.body.accepts[0]?.maxAmountRequired]).toEqual([402, '1500001']);
    await house.paid(job_id, job_id.replace('job_', 'task_'));
    expect((await house.step(winner, job_id, 'reveal', { output: OUTPUT, encoding: 'utf8' })).status).toBe(200);
    expect((await house.output(poster, job_id)).body).toMatchObject({ untrusted_output: OUTPUT });
  });

  it('200 of a job that is shown again: lists and bidders have it as before', async () => {
    const { job_id } = (await house.post(house.poster)).body;
    await hide(job_id);
    for (let again = 0; again < 2; again++)
      expect(await house.service.post(`${JOBS}/${job_id}/unhide`, {}, ops)).toMatchObject({
        status: 200,
        body: { job_id, hidden: false },
      });
    expect((await house.list('?limit=1')).jobs[0]?.job_id).toBe(job_id);
    expect((await house.bid(house.other, job_id)).status).toBe(201);
    expect(await house.kindsOf(job_id)).toEqual(['job_posted', 'job_hidden', 'job_unhidden', 'job_bid']);
    expect((await house.service.post(`${JOBS}/job_none/unhide`, {}, ops)).status).toBe(404);
  });

  it('401 and 403 without the secret of the operators, 404 of no job; by GraphQL the same', async () => {
    const { job_id } = (await house.post(house.poster)).body;
    expect((await hide(job_id, {})).status).toBe(401);
    expect((await hide(job_id, house.by(house.poster))).status).toBe(401);
    expect((await hide(job_id, { 'X-SVC-Board-Ops': 'wrong' })).status).toBe(403);
    expect(await hide('job_none')).toMatchObject({ status: 404, body: { code: 'job_not_found' } });
    const query = `mutation { hideJob(jobId: "${job_id}") { hidden } }`;
    expect(await seen(query)).toMatchObject({ hideJob: null });
    expect(await seen(query, ops)).toEqual({ hideJob: { hidden: true } });
  });
});
