import { ApolloServer } from '@apollo/server';
import { serveTasks, startOptions } from '../child/answer.ts';
import { bookResolvers, bookTypeDefs, openPool } from '../plain-book.ts';
import { serveApollo } from '../serve-apollo.ts';

export interface PlainApolloGiven {
  readonly database_url: string;
}

/** Apollo Server without a gateway. */
const pool = openPool(startOptions<PlainApolloGiven>().database_url);
const apollo = new ApolloServer({ typeDefs: bookTypeDefs, resolvers: bookResolvers(pool) });
const { app, ready } = await serveApollo(apollo);
serveTasks(ready, {}, async () => {
  await app.close();
  await pool.end();
});
