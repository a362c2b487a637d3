import { ApolloServer } from '@apollo/server';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse } from 'graphql';
import { serveTasks, startOptions } from '../child/answer.ts';
import { openPool } from '../plain-book.ts';
import { type PlainSubgraph, plainSubgraphs } from '../plain-subgraphs.ts';
import { serveApollo } from '../serve-apollo.ts';

export interface ApolloSubgraphGiven {
  readonly name: PlainSubgraph;
  readonly database_url: string;
}

/** One of Apollo's subgraphs, over HTTP. */
const { name, database_url } = startOptions<ApolloSubgraphGiven>();
const pool = openPool(database_url);
const { typeDefs, resolvers } = plainSubgraphs[name];
const schema = buildSubgraphSchema({ typeDefs: parse(typeDefs), resolvers: resolvers(pool) as never });
const { app, ready } = await serveApollo(new ApolloServer({ schema }));
serveTasks(ready, {}, async () => {
  await app.close();
  await pool.end();
});
