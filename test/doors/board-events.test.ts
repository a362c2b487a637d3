import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { type Client, createClient } from 'graphql-ws';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { openStore } from '../../gateway/parts.ts';
import { BoardEventNoun } from '../../schema/board/event.ts';
import { postOf } from '../../subgraphs/board/event/subjects.ts';
import type { Database } from '../../subgraphs/database.ts';
import { changePost, writePost } from '../harness/board/board.ts';
import { openService, type Service } from '../harness/doors/open-service.ts';
import { atEnd } from '../harness/release.ts';

let service: Service;
let database: Database;
/** Position of the board before each test, because all tests share one board. */
let before = 0;
beforeAll(async () => {
  service = await openService();
  database = await openStore(service.database_url);
  atEnd(() => database.close());
});

let posts = 0;
const newPost = () => `post_${String(posts++).padStart(26, '0')}`;
const newest = async () => {
  const [head] = await database.query<{ position: number }>({ text: 'select position from board_head' });
  before = head?.position ?? 0;
  return before;
};

interface EventResult {
  readonly position: number;
  readonly kind: string;
  readonly postId: string;
  readonly post: { readonly untrustedText: string } | null;
}

function client(): Client {
  const url = `${service.url.replace('http', 'ws')}/graphql`;
  const opened = createClient({ url, webSocketImpl: WebSocket, retryAttempts: 0 });
  onTestFinished(async () => opened.dispose());
  return opened;
}

/** Follows events by the official client of graphql-ws, in the order of arrival. */
function follow(after: number | null, opened = client()): { heard: EventResult[]; stop: () => void } {
  const heard: EventResult[] = [];
  const query =
    'subscription Board($after: Int) { boardEvents(after: $after) { position kind postId post { untrustedText } } }';
  const stop = opened.subscribe<{ boardEvents: EventResult }>(
    { query, variables: { after } },
    {
      next: ({ data }) => void (data && heard.push(data.boardEvents)),
      error: () => {},
      complete: () => {},
    },
  );
  return { heard, stop };
}

const kinds = (heard: readonly EventResult[]) => heard.map(({ position, kind }) => [position - before, kind]);

describe('boardEvents', () => {
  it('is for anybody: what came after a position, and then what comes, each once and without a gap', async () => {
    await newest();
    const post_id = newPost();
    await writePost(database, post_id);
    const { heard } = follow(before);
    await expect.poll(() => heard.length).toBe(1);
    await changePost(database, post_id, 'post_liked', 'like_count = 1');
    await changePost(database, post_id, 'post_confirmed', 'confirm_count = 1');
    await expect.poll(() => heard.length).toBe(3);
    expect(kinds(heard)).toEqual([
      [1, 'post_created'],
      [2, 'post_liked'],
      [3, 'post_confirmed'],
    ]);
    const { heard: resumed } = follow(before + 2);
    const { heard: last } = follow(-1);
    await expect.poll(() => [kinds(resumed), kinds(last)]).toEqual([[[3, 'post_confirmed']], [[3, 'post_confirmed']]]);
  });

  it('shows of a hidden post its id alone, in old events too, also to who comes late to others that follow', async () => {
    await newest();
    const [post_id, other] = [newPost(), newPost()];
    await writePost(database, post_id, { untrusted_text: 'to be hidden' });
    const early = follow(before);
    await expect.poll(() => early.heard).toMatchObject([{ postId: post_id, post: { untrustedText: 'to be hidden' } }]);
    await changePost(database, post_id, 'post_hidden', 'hidden = true');
    await writePost(database, other);
    await expect.poll(() => early.heard.length).toBe(3);
    const late = follow(before);
    await expect.poll(() => late.heard.length).toBe(3);
    expect(late.heard).toMatchObject([
      { kind: 'post_created', postId: post_id, post: null },
      { kind: 'post_hidden', postId: post_id, post: null },
      { kind: 'post_created', postId: other, post: { untrustedText: 'It answered at once.' } },
    ]);
  });

  it('tells forty followers at once of what happens in the same order', async () => {
    await newest();
    const opened = client();
    const followers = Array.from({ length: 40 }, () => follow(before, opened));
    const post_id = newPost();
    await writePost(database, post_id);
    for (let i = 0; i < 20; i++) await changePost(database, post_id, 'post_liked');
    const wanted = Array.from({ length: 21 }, (_, index) => before + index + 1);
    await expect.poll(() => followers.every(({ heard }) => heard.length === wanted.length)).toBe(true);
    for (const { heard } of followers) expect(heard.map(({ position }) => position)).toEqual(wanted);
  });
});

it('a thousand who are shown the same event cost two reads at most', async () => {
  const post_id = newPost();
  await writePost(database, post_id);
  let reads = 0;
  const counted = {
    ...database,
    query: (statement: Parameters<Database['query']>[0]) => {
      reads++;
      return database.query(statement);
    },
  } as Database;
  const shown = await Promise.all(Array.from({ length: 1_000 }, () => postOf(counted, post_id)));
  expect(shown.every(post => post?.postId === post_id)).toBe(true);
  expect(reads).toBeLessThanOrEqual(2);
});

/** Follows the events of the REST endpoint as a browser reads them. */
async function listen(query: string, headers: Record<string, string> = {}) {
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const answer = await fetch(`${service.url}/v1/board/events${query}`, { headers, signal: leaving.signal });
  const heard: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: event => void heard.push(event) });
  const reading = async () => {
    for await (const bytes of answer.body ?? []) parser.feed(Buffer.from(bytes).toString());
  };
  const read = reading().catch(() => {});
  return { answer, heard, ids: () => heard.map(({ id }) => Number(id) - before), leave: () => leaving.abort(), read };
}

describe('GET /v1/board/events', () => {
  it('200 in events: each with its position for an id, in the shape that is described', async () => {
    await newest();
    const post_id = newPost();
    await writePost(database, post_id, { untrusted_text: 'a\nb <script>' });
    const { answer, heard, ids } = await listen(`?after=${before}`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    await expect.poll(() => heard.length).toBe(1);
    await changePost(database, post_id, 'post_taken_down');
    await expect.poll(ids).toEqual([1, 2]);
    const events = heard.map(({ data }) => BoardEventNoun.parse(JSON.parse(data)));
    expect(events).toMatchObject([
      { position: before + 1, kind: 'post_created', post_id, post: { untrusted_text: 'a\nb <script>' } },
      { position: before + 2, kind: 'post_taken_down', post_id },
    ]);
    expect(heard.every(({ event }) => event === undefined)).toBe(true);
  });

  it('resumes by Last-Event-ID, which goes before `after`; without either it tells what is new alone', async () => {
    await newest();
    const post_id = newPost();
    await writePost(database, post_id);
    await changePost(database, post_id, 'post_liked');
    const resumed = await listen(`?after=0`, { 'last-event-id': String(before + 1) });
    const newestAlone = await listen('?after=-1');
    const fresh = await listen('');
    await expect.poll(() => [resumed.ids(), newestAlone.ids()]).toEqual([[2], [2]]);
    await changePost(database, post_id, 'post_confirmed');
    await expect.poll(() => [resumed.ids(), newestAlone.ids(), fresh.ids()]).toEqual([[2, 3], [2, 3], [3]]);
  });

  it('one who leaves is forgotten, and the others go on', async () => {
    await newest();
    const [leaver, stayer] = [await listen(''), await listen('')];
    leaver.leave();
    await leaver.read;
    await writePost(database, newPost());
    await expect.poll(stayer.ids).toEqual([1]);
    expect(leaver.ids()).toEqual([]);
  });

  it.each([
    ['?after=x', {}],
    ['?after=1.5', {}],
    ['?after=99999999999', {}],
    ['', { 'last-event-id': 'last' }],
    ['', { 'last-event-id': '-1' }],
  ])('400 on %s %o', async (query, headers) => {
    const heard = await service.get(`/v1/board/events${query}`, headers);
    expect(heard).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });

  it('200 without a body on HEAD, 405 on POST', async () => {
    const head = await fetch(`${service.url}/v1/board/events`, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    expect((await service.knock('POST', '/v1/board/events', { body: {} })).status).toBe(405);
  });
});
