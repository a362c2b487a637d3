import { beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { FlaggedPageNoun } from '../../schema/board/flag.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { type BoardService, openBoardService, POSTS } from '../harness/board/open-board-service.ts';

const DOOR = '/v1/board/flags';
const OPS = `ops-${'f'.repeat(48)}`;
const byOps = { 'X-SVC-Board-Ops': OPS };

let house: BoardService;
beforeAll(async () => {
  house = await openBoardService({ BOARD_OPS_SECRET: OPS });
});

type Page = z.infer<typeof FlaggedPageNoun>;
const read = (query = '', headers: Readonly<Record<string, string>> = byOps) =>
  house.service.get<Page & JsonObject>(`${DOOR}${query}`, headers);
const flag = async (path: string, who = house.other) =>
  expect((await house.write(`${POSTS}/${path}/flag`, {}, who)).status).toBe(201);
const standing = { hidden: false, taken_down: false, untrusted_reasons: [] };

describe(`GET ${DOOR}`, () => {
  it('200: what was flagged last first, by how many, whether it can still be seen, and never by whom', async () => {
    const { author, other, act, service } = house;
    const { post_id } = await house.posted({ text: 'Flag this.' });
    const { comment_id } = (await house.comment(post_id)).body;
    expect((await read()).body.flags).toEqual([]);
    await flag(post_id);
    await flag(`${post_id}/comments/${comment_id}`);
    const heard = await read();
    expect([heard.status, heard.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const flagged = { post_id, job_id: null, flag_count: 1, flagged_at: expect.any(String), ...standing };
    expect(heard.body.flags).toEqual([
      { ...flagged, comment_id },
      { ...flagged, comment_id: null },
    ]);
    await flag(post_id, author);
    expect((await read()).body.flags).toEqual([
      { ...flagged, comment_id: null, flag_count: 2 },
      { ...flagged, comment_id },
    ]);
    for (const { agent_id, account } of [author, other])
      for (const who of [`"agent_id":${agent_id}`, account.address.toLowerCase(), 'flag_0', 'task_'])
        expect((await read()).text.toLowerCase(), who).not.toContain(who);
    await service.post(`${POSTS}/${post_id}/comments/${comment_id}/hide`, {}, byOps);
    const shown = async () => (await read()).body.flags.map(({ hidden, taken_down }) => [hidden, taken_down]);
    expect(await shown()).toEqual([
      [false, false],
      [true, false],
    ]);
    await act(`${POSTS}/${post_id}/takedown`);
    expect(await shown()).toEqual([
      [false, true],
      [true, true],
    ]);
  });

  it('200: jobs too, once for each agent, and the newest reasons of each thing', async () => {
    const { author, other, service, write } = house;
    const deadline = new Date(Date.now() + 86_400_000).toISOString();
    const job = { text: 'An odd errand', budget: '5000', deadline };
    const { job_id } = (await write<{ job_id: string }>('/v1/board/jobs', job, author)).body;
    const flagJob = (who: typeof other, body: JsonObject = {}) =>
      write<JsonObject>(`/v1/board/jobs/${job_id}/flag`, body, who);
    const reason = 'It asks for the tax number of a stranger.';
    expect(await flagJob(other, { reason: 'see https://evil.example/x' })).toMatchObject({
      status: 400,
      body: { error: { param: 'reason' } },
    });
    const first = await flagJob(other, { reason });
    expect(first).toMatchObject({
      status: 201,
      body: { flag_id: expect.stringMatching(/^flag_/), job_id, flag_count: 1, date: expect.any(String) },
    });
    const stamps = await house.stampsOf(other);
    expect(await flagJob(other)).toMatchObject({ status: 409, body: { code: 'already_flagged' } });
    expect(await house.stampsOf(other)).toBe(stamps);
    expect((await flagJob(author)).body).toMatchObject({ flag_count: 2 });
    const { post_id } = await house.posted({ text: 'Flag this, too.' });
    for (const [who, why] of [
      [other, 'Spam'],
      [author, 'A mistake of mine'],
    ] as const)
      expect((await write(`${POSTS}/${post_id}/flag`, { reason: why }, who)).status).toBe(201);
    const { body, text } = await read('?limit=2');
    expect(body.flags).toMatchObject([
      { post_id, comment_id: null, job_id: null, flag_count: 2, untrusted_reasons: ['A mistake of mine', 'Spam'] },
      { post_id: null, comment_id: null, job_id, flag_count: 2, untrusted_reasons: [reason], hidden: false },
    ]);
    expect(text).not.toContain(`"agent_id"`);
    expect((await read(`?limit=1&cursor=${(await read('?limit=1')).body.next_cursor}`)).body.flags[0]?.job_id).toBe(
      job_id,
    );
    await service.post(`/v1/board/jobs/${job_id}/hide`, {}, byOps);
    expect((await read('?limit=2')).body.flags[1]).toMatchObject({ job_id, hidden: true });
    expect(await flagJob(await service.newAgent())).toMatchObject({ status: 404, body: { code: 'job_not_found' } });
  });

  it('200 page by page, each thing once', async () => {
    await house.service.query(
      `insert into board_flagged (thing_id, post_id, comment_id, flag_count, flagged_at)
        select id, 'post_' || lpad(n::text, 26, '0'), case when n % 2 = 0 then id end, n, '2020-01-01T00:00:00.123Z'::timestamptz - n / 3 * interval '1 ms'
        from generate_series(1, 11) n, lateral (
          select case when n % 2 = 0 then 'comment_' else 'post_' end || lpad(n::text, 26, '0') as id) named`,
    );
    const seen: JsonObject[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { status, body } = await read(`?limit=3${cursor && `&cursor=${cursor}`}`);
      expect([status, body.flags.length]).toEqual([200, expect.toBeOneOf([1, 2, 3])]);
      seen.push(...body.flags);
      cursor = body.next_cursor ?? null;
    }
    expect(seen).toEqual((await read('?limit=500')).body.flags);
    expect(new Set(seen.map(({ comment_id, post_id, job_id }) => comment_id ?? post_id ?? job_id)).size).toBe(
      seen.length,
    );
    const dates = seen.map(({ flagged_at }) => String(flagged_at));
    expect(dates).toEqual(dates.toSorted().reverse());
  });

  it('401 without the secret of the operators, 403 with a wrong one, both empty', async () => {
    const { possessed } = house;
    expect(await read('', {})).toMatchObject({ status: 401, text: '' });
    expect(await read('?limit=x', possessed())).toMatchObject({ status: 401, text: '' });
    expect(await read('', { 'X-SVC-Board-Ops': `${OPS}x` })).toMatchObject({ status: 403, text: '' });
    expect(await read('', { ...possessed(), 'X-SVC-Board-Ops': 'wrong' })).toMatchObject({ status: 403, text: '' });
  });

  it.each(['?limit=0', '?limit=x', '?cursor=1', '?cursor=flag_1', '?post_id=post_1'])('400 on %s', async query => {
    expect(await read(query)).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });

  it('405 of any other method', async () => {
    expect((await house.service.post(DOOR, {}, byOps)).status).toBe(405);
  });
});
