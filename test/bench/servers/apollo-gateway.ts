import { ApolloGateway } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { serveTasks, startOptions } from '../child/answer.ts';
import { serveApollo } from '../serve-apollo.ts';

export interface ApolloGatewayOptions {
  readonly supergraph: string;
}

/** ApolloGateway with a fixed supergraph and its default HTTP transport to subgraphs. */
const gateway = new ApolloGateway({ supergraphSdl: startOptions<ApolloGatewayOptions>().supergraph });
const { app, ready } = await serveApollo(new ApolloServer({ gateway }));
serveTasks(ready, {}, () => app.close());
