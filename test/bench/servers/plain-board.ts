import { ApolloServer } from '@apollo/server';
import { GraphQLDateTimeISO } from 'graphql-scalars';
import { serveTasks, startOptions } from '../child/answer.ts';
import { openPool } from '../plain-book.ts';
import { serveApollo } from '../serve-apollo.ts';

export interface PlainBoardGiven {
  readonly database_url: string;
}

const typeDefs = `
  scalar DateTime
  enum Outcome { success error double_charge price_jump }
  type Query {
    boardPostPage(
      type: Outcome, endpoint: String, authorAgentId: Int, backing: String, limit: Int, cursor: String
    ): BoardPostPage!
  }
  type BoardPostPage { posts: [BoardPost!]! nextCursor: String }
  type BoardPost {
    postId: String! status: String! endpointHost: String! hostBasis: String! outcome: Outcome! amount: String rail: String
    latencyMs: Int postedAt: DateTime! verifyUrl: String backing: String! selfDealt: Boolean! likeCount: Int!
    confirmCount: Int! untrustedText: String
  }`;

interface Row {
  readonly [column: string]: unknown;
}

const columns = {
  postId: 'post_id',
  endpointHost: 'endpoint_host',
  hostBasis: 'host_basis',
  amount: 'amount_atomic',
  latencyMs: 'latency_ms',
  postedAt: 'posted_at',
  selfDealt: 'self_dealt',
  likeCount: 'like_count',
  confirmCount: 'confirm_count',
  untrustedText: 'untrusted_text',
};

/** Apollo Server over the same posts. It selects the same page by the same key, without a cache of answers. */
const pool = openPool(startOptions<PlainBoardGiven>().database_url);
const resolvers = {
  DateTime: GraphQLDateTimeISO,
  Query: {
    async boardPostPage(_root: unknown, { limit, cursor }: { readonly limit: number; readonly cursor: string }) {
      const text = `select * from board_post where not hidden and taken_down_at is null and post_id < $2
        order by post_id desc limit $1`;
      const { rows } = await pool.query<Row>(text, [limit + 1, cursor]);
      const posts = rows.slice(0, limit);
      return { posts, nextCursor: rows.length > limit ? posts.at(-1)?.post_id : null };
    },
  },
  BoardPost: {
    ...Object.fromEntries(Object.entries(columns).map(([field, column]) => [field, (row: Row) => row[column]])),
    status: () => 'standing',
    backing: () => 'stamp-backed',
    verifyUrl: ({ stamp_task_id }: Row) => `https://bench.example/receipt/${stamp_task_id}`,
  },
};
const { app, ready } = await serveApollo(new ApolloServer({ typeDefs, resolvers }));
serveTasks(ready, {}, async () => {
  await app.close();
  await pool.end();
});
