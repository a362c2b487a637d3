import type pg from 'pg';
import { bookResolvers, bookTypeDefs } from './plain-book.ts';

/** Two minimal subgraphs. Only the first one is needed for a page of a book. */
export const plainSubgraphs = {
  book: { typeDefs: bookTypeDefs, resolvers: bookResolvers },
  receipt: {
    typeDefs: `
      extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key"])
      type Query { receipt(taskId: String!): Receipt }
      type Receipt @key(fields: "taskId") { taskId: String! payloadHash: String! }
    `,
    resolvers: (pool: pg.Pool) => {
      const receipt = async (taskId: string) => {
        const text = 'select task_id as "taskId", payload_hash as "payloadHash" from receipt where task_id = $1';
        return (await pool.query<{ taskId: string; payloadHash: string }>(text, [taskId])).rows[0] ?? null;
      };
      return {
        Query: { receipt: (_root: unknown, { taskId }: { taskId: string }) => receipt(taskId) },
        Receipt: { __resolveReference: ({ taskId }: { taskId: string }) => receipt(taskId) },
      };
    },
  },
};

export type PlainSubgraph = keyof typeof plainSubgraphs;
