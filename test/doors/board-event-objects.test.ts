import { randomBytes } from 'node:crypto';
import { createParser } from 'eventsource-parser';
import { createClient } from 'graphql-ws';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { openStore } from '../../gateway/parts.ts';
import { BoardEventNoun } from '../../schema/board/event.ts';
import { boardJobOf, commentOf } from '../../subgraphs/board/event/subjects.ts';
import type { Database } from '../../subgraphs/database.ts';
import { appendEventOf, writeComment, writeJob, writePost } from '../harness/board/board.ts';
import { type Service, sharedService } from '../harness/doors/open-service.ts';
import { atEnd } from '../harness/release.ts';

/* An event contains its object in its current state. Of a hidden object it contains only the id. */

let service: Service;
let database: Database;
beforeAll(async () => {
  service = await sharedService();
  database = await openStore(service.database_url);
  atEnd(() => database.close());
});

const newId = (kind: string) => `${kind}_${randomBytes(13).toString('hex')}`;

/** Writes a post with a comment, and a job. Returns their ids and the position of the board before. */
async function written() {
  const [head] = await database.query<{ position: number }>({ text: 'select position from board_head' });
  const ids = { post_id: newId('post'), comment_id: newId('comment'), job_id: newId('job') };
  await writePost(database, ids.post_id);
  await writeComment(database, ids);
  await writeJob(database, ids.job_id);
  return { ...ids, before: head?.position ?? 0 };
}

type Event = Readonly<Record<string, unknown>>;

/** Events after that position, up to `count`, read with the official client of graphql-ws. */
async function bySocket(after: number, count: number): Promise<readonly Event[]> {
  const url = `${service.url.replace('http', 'ws')}/graphql`;
  const client = createClient({ url, webSocketImpl: WebSocket, retryAttempts: 0 });
  onTestFinished(async () => client.dispose());
  const query = `subscription ($after: Int) { boardEvents(after: $after) {
    kind taskId verifyUrl comment { commentId status untrustedText verifyUrl } job { jobId status untrustedText bids { bidId } } } }`;
  const heard: Event[] = [];
  for await (const { data, errors } of client.iterate<{ boardEvents: Event }>({ query, variables: { after } })) {
    expect(errors).toBeUndefined();
    if (data) heard.push(data.boardEvents);
    if (heard.length === count) break;
  }
  return heard;
}

/** Data of events from a stream of server-sent events, of REST or of the graph. */
async function streamed(path: string, count: number, accept = 'text/event-stream'): Promise<readonly string[]> {
  const leaving = new AbortController();
  const { body } = await fetch(service.url + path, { headers: { accept }, signal: leaving.signal });
  const heard: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => void heard.push(data) });
  for await (const bytes of body ?? []) {
    parser.feed(Buffer.from(bytes).toString());
    if (heard.length >= count) break;
  }
  leaving.abort();
  return heard.slice(0, count);
}
const byDoor = async (after: number, count: number) =>
  (await streamed(`/v1/board/events?after=${after}`, count)).map(data => BoardEventNoun.parse(JSON.parse(data)));

describe('of a comment and of a job', () => {
  it('both are shown with their events, by the door and by graphql-ws', async () => {
    const { before, post_id, comment_id, job_id } = await written();
    expect(await byDoor(before, 3)).toMatchObject([
      { kind: 'post_created', post_id, comment: null, job: null, task_id: null, verify_url: null },
      { kind: 'comment_created', comment: { status: 'published', untrusted_text: 'So it is here.' }, job: null },
      { kind: 'job_posted', job: { status: 'open', untrusted_text: 'Translate a page.', budget: '1000000' } },
    ]);
    expect(await bySocket(before, 3)).toMatchObject([
      { kind: 'post_created', comment: null, job: null },
      { kind: 'comment_created', comment: { commentId: comment_id, untrustedText: 'So it is here.' } },
      { kind: 'job_posted', job: { jobId: job_id, status: 'open', bids: [] } },
    ]);
  });

  it('GraphQL over server-sent events shows the same', async () => {
    const { before } = await written();
    const query = `subscription { boardEvents(after: ${before}) { kind comment { untrustedText } job { untrustedText } } }`;
    const heard = await streamed(`/graphql/stream?query=${encodeURIComponent(query)}`, 3);
    expect(heard.map(data => JSON.parse(data).data.boardEvents)).toMatchObject([
      { kind: 'post_created' },
      { kind: 'comment_created', comment: { untrustedText: 'So it is here.' } },
      { kind: 'job_posted', job: { untrustedText: 'Translate a page.' } },
    ]);
  });

  it('one that was taken down stands without its text, and one that is hidden not at all, in old events too', async () => {
    const { before, post_id, comment_id, job_id } = await written();
    const comment = { post_id, comment_id };
    const erase = `update board_comment set taken_down_at = now(), untrusted_text = null where comment_id = '${comment_id}'`;
    await appendEventOf(database, { kind: 'comment_taken_down', ...comment }, erase);
    const tombstone = { status: 'taken_down', untrusted_text: null };
    expect((await byDoor(before, 4)).map(event => event.comment)).toMatchObject([null, tombstone, null, tombstone]);
    const hide = `update board_comment set hidden = true where comment_id = '${comment_id}'`;
    await appendEventOf(database, { kind: 'comment_hidden', ...comment }, hide);
    await appendEventOf(
      database,
      { kind: 'job_hidden', job_id },
      `update board_job set hidden = true where job_id = '${job_id}'`,
    );
    const shown = await byDoor(before, 6);
    expect(shown.map(({ kind }) => kind).slice(3)).toEqual(['comment_taken_down', 'comment_hidden', 'job_hidden']);
    expect(shown.map(event => [event.comment, event.job])).toEqual(Array(6).fill([null, null]));
    expect(shown[2]).toMatchObject({ kind: 'job_posted', job_id });
  });

  it.each(['hidden = true', 'taken_down_at = now(), untrusted_text = null'])(
    'no comment is shown whose post does not stand any more: %s',
    async set => {
      const { before, post_id } = await written();
      const change = `update board_post set ${set} where post_id = '${post_id}'`;
      await appendEventOf(
        database,
        { kind: set.startsWith('hidden') ? 'post_hidden' : 'post_taken_down', post_id },
        change,
      );
      expect((await byDoor(before, 4)).map(({ comment, post }) => [comment, post])).toEqual(
        Array(4).fill([null, null]),
      );
    },
  );

  it('a thousand who are shown the same burst of events cost two reads of each kind at most', async () => {
    const things = await Promise.all(Array.from({ length: 3 }, written));
    const reads: string[] = [];
    const counted = {
      ...database,
      query: (statement: Parameters<Database['query']>[0]) => {
        reads.push(String(statement.name));
        return database.query(statement);
      },
    } as Database;
    const shown = await Promise.all(
      Array.from({ length: 1_000 }, (_, reader) => things[reader % 3] ?? { comment_id: '', job_id: '' }).map(
        async ({ comment_id, job_id }) =>
          (await commentOf(counted, comment_id))?.commentId === comment_id &&
          (await boardJobOf(counted, job_id))?.jobId === job_id,
      ),
    );
    expect(shown.every(same => same)).toBe(true);
    for (const name of ['comments by id', 'board jobs by id'])
      expect(reads.filter(read => read === name).length, name).toBeLessThanOrEqual(2);
  });
});

it('of a completion that was recorded, the task of its receipt and the page of that', async () => {
  const { before } = await written();
  await appendEventOf(database, { kind: 'completion_recorded', task_id: 'task_of_elsewhere' });
  const page = `${service.url}/receipt/task_of_elsewhere`;
  const event = { kind: 'completion_recorded', task_id: 'task_of_elsewhere', verify_url: page };
  expect((await byDoor(before, 4))[3]).toMatchObject({ ...event, post: null, comment: null, job: null });
  expect((await bySocket(before, 4))[3]).toMatchObject({ taskId: 'task_of_elsewhere', verifyUrl: page });
});
