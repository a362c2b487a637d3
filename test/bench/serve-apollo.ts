import type { ApolloServer } from '@apollo/server';
import fastifyApollo from '@as-integrations/fastify';
import Fastify, { type FastifyInstance } from 'fastify';

export interface ApolloReady {
  readonly url: string;
}

/** Apollo Server with Fastify on a free port, set up as its manual shows. */
export async function serveApollo(apollo: ApolloServer): Promise<{ app: FastifyInstance; ready: ApolloReady }> {
  await apollo.start();
  const app = Fastify();
  await app.register(fastifyApollo(apollo));
  return { app, ready: { url: await app.listen({ host: '127.0.0.1', port: 0 }) } };
}
