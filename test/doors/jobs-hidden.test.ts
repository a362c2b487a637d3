import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { JOBS, OPS_SECRET, openJobs, sha256 } from '../harness/board/jobs.ts';

/* Jobs that the board's operators hide. */

let house: Awaited<ReturnType<typeof openJobs>>;
beforeAll(async () => {
  house = await openJobs();
});

const OUTPUT = 'Tidal power is on the rise.';

describe('POST /v1/board/jobs/{id}/hide', () => {
  const ops = { 'X-SVC-Board-Ops': OPS_SECRET };
  const hide = (job_id: string, headers: Readonly<Record<string, string>> = ops) =>
    house.service.post(`${JOBS}/${job_id}/hide`, {}, headers);
  const seen = async (query: string, headers = {}) =>
    (await house.service.post<{ data: JsonObject | null }>('/graphql', { query }, headers)).body.data;

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
    // Whatever keeps answers for everybody would hand it on.
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
