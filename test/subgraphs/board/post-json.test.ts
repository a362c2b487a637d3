import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { insertRows } from '../../../subgraphs/database.ts';
import { boardPages, storableText } from '../../harness/board/written-pages.ts';

/* Postgres writes a page of posts if only its JSON is needed. It must be equal to what the resolvers return. */

const { database, both: pages } = await boardPages();

const ALL = `__typename post_id: postId status endpointHost hostBasis outcome amount rail latencyMs date: postedAt verifyUrl
  backing selfDealt likeCount confirmCount untrustedText`;

/** Both forms of the same page; they say the same, or the test has failed. */
const both = async (selection: string) => (await pages(`boardPostPage${selection}`)).page;

const post = fc.record({
  endpoint_host: storableText,
  host_basis: fc.constantFrom('signed', 'declared'),
  outcome: fc.constantFrom('success', 'error', 'double_charge', 'price_jump'),
  receipt_ref: fc.option(storableText),
  self_dealt: fc.boolean(),
  amount_atomic: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String),
  rail: fc.constantFrom('usdc', 'xno'),
  latency_ms: fc.option(fc.nat(86_400_000)),
  untrusted_text: fc.option(storableText),
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
