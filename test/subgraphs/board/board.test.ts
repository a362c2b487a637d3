import { beforeAll, describe, expect, it } from 'vitest';
import { composeSupergraph } from '../../../gateway/graph/compose.ts';
import { type Graph, openGraph } from '../../../gateway/graph/open-graph.ts';
import { nobody } from '../../../schema/principal.ts';
import { boardSubgraph } from '../../../subgraphs/board/index.ts';
import { type Database, insertRows } from '../../../subgraphs/database.ts';
import { logTo } from '../../harness/graph/shop.ts';
import { freshStore } from '../../harness/store.ts';

let database: Database;
let graph: Graph;

beforeAll(async () => {
  database = await freshStore();
  const board = await boardSubgraph();
  graph = await openGraph([board], { logger: logTo([]), introspection: true, supergraph: composeSupergraph([board]) });
});

async function posts(filter = '') {
  const text = `{ boardPosts${filter} { postId endpointHost amount outcome latencyMs postedAt verifyUrl backing likeCount confirmCount untrustedText } }`;
  return graph.execute({
    document: graph.parse(text),
    variables: {},
    context: { database, principal: nobody, base_url: 'https://svc.example' },
  });
}
const ids = async (filter = '') =>
  ((await posts(filter)).data as { boardPosts: { postId: string }[] }).boardPosts.map(({ postId }) => postId);

const row = {
  agent_id: 1,
  endpoint_host: 'api.example',
  outcome: 'success',
  receipt_ref: null as string | null,
  stamp_task_id: 'task_stamp',
  amount_atomic: '2000',
  latency_ms: 120,
  untrusted_text: '<b>fast</b>',
  like_count: 0,
  confirm_count: 0,
  hidden: false,
};

describe('boardPosts', () => {
  it('is an empty list on an empty board', async () => {
    expect(await posts()).toEqual({ data: { boardPosts: [] } });
  });

  it('lists public posts, newest first, with the host only and the page of what backs them', async () => {
    await database.transaction(async tx =>
      insertRows(tx, 'board_post', [
        { ...row, post_id: 'post_1', posted_at: '2026-01-01T00:00:00Z' },
        {
          ...row,
          post_id: 'post_2',
          posted_at: '2026-01-02T00:00:00Z',
          outcome: 'error',
          receipt_ref: 'task_cited',
          endpoint_host: 'b.example:8443',
        },
        { ...row, post_id: 'post_3', posted_at: '2026-01-03T00:00:00Z', hidden: true },
      ]),
    );
    const { data } = await posts();
    expect(data?.boardPosts).toMatchObject([
      { postId: 'post_2', backing: 'spend-backed', verifyUrl: 'https://svc.example/receipt/task_cited' },
      {
        postId: 'post_1',
        backing: 'stamp-backed',
        verifyUrl: 'https://svc.example/receipt/task_stamp',
        amount: '2000',
        endpointHost: 'api.example',
        latencyMs: 120,
      },
    ]);
  });

  it('filters by outcome, and by endpoint as a URL or a host', async () => {
    expect(await ids('(type: success)')).toEqual(['post_1']);
    expect(await ids('(endpoint: "https://api.example/other")')).toEqual(['post_1']);
    expect(await ids('(endpoint: "b.example:8443")')).toEqual(['post_2']);
    expect(await ids('(type: success, endpoint: "b.example:8443")')).toEqual([]);
  });

  it('refuses an endpoint that can match nothing', async () => {
    expect((await posts('(endpoint: "https://")')).errors).toMatchObject([
      { extensions: { code: 'invalid_request', status: 400, param: 'endpoint' } },
    ]);
  });

  it('takes the words of an outcome for its type, and no other', async () => {
    expect((await posts('(type: great)')).errors).toMatchObject([{ message: expect.stringContaining('"great"') }]);
  });
});
