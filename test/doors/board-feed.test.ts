import { beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../gateway/parts.ts';
import { boardReadLimits } from '../../schema/limits.ts';
import type { Database } from '../../subgraphs/database.ts';
import { changePost, writeJob, writePost } from '../harness/board/board.ts';
import { readAtom } from '../harness/board/read-atom.ts';
import { openService, type Service } from '../harness/doors/open-service.ts';
import { atEnd } from '../harness/release.ts';

const HOSTILE = `<script>alert(1)</script> & "quotes" ]]> 'it' &amp; \u0007\ud800 \u{1f600}`;
const [ATOM, JSON_FEED] = ['/v1/board/feed.atom', '/v1/board/feed.json'];

let service: Service;
let database: Database;
beforeAll(async () => {
  service = await openService();
  database = await openStore(service.database_url);
  atEnd(() => database.close());
});

interface JsonFeed {
  readonly version: string;
  readonly title: string;
  readonly feed_url: string;
  readonly items: readonly { readonly id: string; readonly url: string; readonly content_text: string }[];
}
const jsonFeed = async () => (await service.get<JsonFeed>(JSON_FEED)).body;

describe('the feed of the board', () => {
  it('200 on an empty board, too', async () => {
    const { status, text } = await service.get(ATOM);
    expect([status, readAtom(text)]).toMatchObject([200, { entries: [] }]);
    expect((await jsonFeed()).items).toEqual([]);
  });

  it('200: posts and jobs, newest first, with texts as plain text, whatever is in them', async () => {
    await writePost(database, 'post_01hostile', {
      untrusted_text: HOSTILE.replace('\ud800', ''),
      posted_at: '2026-01-01T00:00:00Z',
    });
    await writeJob(database, 'job_02first', { posted_at: '2026-01-02T00:00:00.5Z' });
    await writePost(database, 'post_03hidden', { hidden: true, posted_at: '2026-01-03T00:00:00Z' });
    const { headers, text } = await service.get(ATOM);
    expect(headers.get('content-type')).toBe('application/atom+xml; charset=utf-8');
    const { root, entries } = readAtom(text);
    expect(root).toEqual(['http://www.w3.org/2005/Atom', 'feed']);
    const tag = `tag:${new URL(service.url).hostname},2026:board/`;
    const shown = HOSTILE.replace('\ud800', '');
    expect(entries).toEqual([
      {
        id: `${tag}job_02first`,
        title: 'A job',
        updated: '2026-01-02T00:00:00.500Z',
        content: 'Translate a page.',
        type: 'text',
        children: 0,
        link: `${service.url}/v1/board/jobs/job_02first`,
      },
      {
        id: `${tag}post_01hostile`,
        title: 'success at api.example',
        updated: '2026-01-01T00:00:00.000Z',
        content: shown.replace('\u0007', '\ufffd'),
        type: 'text',
        children: 0,
        link: `${service.url}/v1/board/posts/post_01hostile`,
      },
    ]);
    const { version, feed_url, items } = await jsonFeed();
    expect([version, feed_url]).toEqual(['https://jsonfeed.org/version/1.1', service.url + JSON_FEED]);
    expect(items).toMatchObject([
      { id: `${tag}job_02first`, content_text: 'Translate a page.' },
      { id: `${tag}post_01hostile`, url: `${service.url}/v1/board/posts/post_01hostile`, content_text: shown },
    ]);
    expect(JSON.stringify(items)).not.toContain('content_html');
  });

  it('304 to whoever shows its ETag, until the board moves: a hidden post is gone with the next look', async () => {
    await writePost(database, 'post_04hide', { untrusted_text: 'soon gone', posted_at: '2026-01-04T00:00:00Z' });
    const first = await service.get(ATOM);
    const etag = first.headers.get('etag') ?? '';
    expect([first.text.includes('soon gone'), first.headers.get('cache-control')]).toEqual([true, 'public, max-age=2']);
    expect((await service.get(ATOM, { 'if-none-match': etag })).status).toBe(304);
    await changePost(database, 'post_04hide', 'post_hidden', 'hidden = true');
    const next = await service.get(ATOM, { 'if-none-match': etag });
    expect([next.status, next.text.includes('soon gone')]).toEqual([200, false]);
  });

  it('304 by If-Modified-Since, once what changed last was long enough ago to be told by whole seconds', async () => {
    await database.query({ text: `update board_event set at = '2026-01-05T00:00:00Z'` });
    await changePost(database, 'post_01hostile', 'post_liked');
    await database.query({ text: `update board_event set at = '2026-01-05T00:00:00Z'` });
    const { headers } = await service.get(JSON_FEED);
    expect(headers.get('last-modified')).toBe('Mon, 05 Jan 2026 00:00:00 GMT');
    expect((await service.get(JSON_FEED, { 'if-modified-since': 'Mon, 05 Jan 2026 00:00:00 GMT' })).status).toBe(304);
    await changePost(database, 'post_01hostile', 'post_liked');
    expect((await service.get(JSON_FEED)).headers.has('last-modified')).toBe(false);
  });

  it('has no more than so many entries, the same on the graph', async () => {
    await database.query({
      text: `insert into board_post (post_id, agent_id, endpoint_host, outcome, stamp_task_id, amount_atomic, posted_at)
        select 'post_05many' || n, 1, 'api.example', 'error', 'task_stamp', 2000, now() from generate_series(1, 60) n`,
    });
    await changePost(database, 'post_05many1', 'post_created');
    expect((await jsonFeed()).items).toHaveLength(boardReadLimits.feed_entries);
    const query = '{ boardFeed { entries { id kind } atom } }';
    const { body } = await service.post<{ data: { boardFeed: { entries: object[]; atom: string } } }>('/graphql', {
      query,
    });
    expect(body.data.boardFeed.entries).toHaveLength(boardReadLimits.feed_entries);
    expect(readAtom(body.data.boardFeed.atom).entries).toHaveLength(boardReadLimits.feed_entries);
  });
});
