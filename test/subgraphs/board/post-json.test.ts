import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { composeSupergraph } from '../../../gateway/graph/compose.ts';
import { type Graph, openGraph } from '../../../gateway/graph/open-graph.ts';
import { jsonText } from '../../../schema/json-text.ts';
import { nobody } from '../../../schema/principal.ts';
import { boardSubgraph } from '../../../subgraphs/board/index.ts';
import { type Database, insertRows } from '../../../subgraphs/database.ts';
import { logTo } from '../../harness/graph/shop.ts';
import { freshStore } from '../../harness/store.ts';

/* Postgres writes a page of posts if only its JSON is needed. It must be equal to what the resolvers return. */

let database: Database;
let graph: Graph;
beforeAll(async () => {
  database = await freshStore();
  const board = await boardSubgraph();
  graph = await openGraph([board], { logger: logTo([]), introspection: true, supergraph: composeSupergraph([board]) });
});

const ALL = `__typename post_id: postId status endpointHost hostBasis outcome amount rail latencyMs date: postedAt verifyUrl
  backing selfDealt likeCount confirmCount untrustedText`;

async function page(selection: string, written: boolean) {
  const { data, errors } = await graph.execute({
    document: graph.parse(`{ page: boardPostPage${selection} }`),
    variables: {},
    context: { database, principal: nobody, base_url: 'https://svc.example' },
    ...(written && { written: {} }),
  });
  expect(errors).toBeUndefined();
  return JSON.parse(jsonText(data)) as { readonly page: { readonly posts: unknown[]; readonly next: string | null } };
}

/** The page in both forms. Fails if they differ. */
async function both(selection: string) {
  const plain = await page(selection, false);
  expect(await page(selection, true)).toEqual(plain);
  return plain.page;
}

// NUL is left out, because Postgres cannot store it. So are lone surrogates, which have no UTF-8.
const text = fc.string({ unit: 'grapheme-composite' }).map(it => it.replaceAll('\0', ' '));
const nasty = fc.constantFrom('"', '\\', '\\"', '\n\r\t\b\f', '\u001f\u007f\u2028', '</script>', '%$1', 'null');
const post = fc.record({
  endpoint_host: text,
  host_basis: fc.constantFrom('signed', 'declared'),
  outcome: fc.constantFrom('success', 'error', 'double_charge', 'price_jump'),
  receipt_ref: fc.option(text),
  self_dealt: fc.boolean(),
  amount_atomic: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String),
  rail: fc.constantFrom('usdc', 'xno'),
  latency_ms: fc.option(fc.nat(86_400_000)),
  untrusted_text: fc.option(
    fc.oneof(
      text,
      nasty,
      fc.array(fc.oneof(text, nasty)).map(parts => parts.join('')),
    ),
  ),
  like_count: fc.nat(),
  confirm_count: fc.nat(),
  posted_at: fc
    .date({ noInvalidDate: true, min: new Date('2000-01-01'), max: new Date('2100-01-01') })
    .map(at => at.toISOString()),
});

describe('boardPostPage, as Postgres writes it', () => {
  it('says an empty board', async () => {
    expect(await both(`{ posts { ${ALL} } next: nextCursor }`)).toEqual({ posts: [], next: null });
  });

  it('says whatever a post holds as its resolvers do', async () => {
    let number = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(post, { minLength: 1, maxLength: 5 }), async made => {
        const rows = made.map(it => ({
          ...it,
          post_id: `post_${String(++number).padStart(26, '0')}`,
          agent_id: 1,
          stamp_task_id: `task_${number}`,
          hidden: false,
        }));
        await database.transaction(async tx => insertRows(tx, 'board_post', rows));
        const { posts } = await both(`(limit: ${rows.length}) { posts { ${ALL} } }`);
        expect(posts).toMatchObject(
          [...rows].reverse().map(({ post_id, untrusted_text: untrustedText }) => ({ post_id, untrustedText })),
        );
      }),
      { numRuns: 100 },
    );
  });

  it('goes on page by page to the last post, with no page behind it', async () => {
    const { posts: all } = await both('(limit: 100) { posts { post_id: postId } }');
    for (const limit of [1, 7, 50]) {
      const seen: unknown[] = [];
      let cursor = '';
      do {
        const { posts, next } = await both(`(limit: ${limit}${cursor}) { posts { post_id: postId } next: nextCursor }`);
        seen.push(...posts);
        cursor = next === null ? '' : `, cursor: "${next}"`;
      } while (cursor !== '' && seen.length < 100);
      expect(seen.slice(0, 100)).toEqual(all);
    }
  });

  it('takes any selection: none of the posts, posts under two names, fragments, and filters', async () => {
    await both('{ next: nextCursor }');
    await both(
      '(limit: 3) { a: posts { postId } b: posts { outcome ...on BoardPost { postId rail } } next: nextCursor }',
    );
    await both('(limit: 3, type: error) { posts { postId outcome } next: nextCursor }');
    await both('(limit: 3, endpoint: "api.example") { posts { postId } next: nextCursor }');
  });
});
